package lanetest_test

import "testing"

func TestTheLaneOfTheExamplePasses(t *testing.T) { testSemaphore(t) }
