package pool_test

// Tests that end a process, or watch one end, start the test binary again with
// this variable set to the name of a function below.
const childVar = "IOLANE_POOL_TEST_CHILD"

var children = map[string]func(){}
