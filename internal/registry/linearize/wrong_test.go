package linearize

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

// op is a call on handle 0.
func op(began, ended int64, client int, k kind, a answer) porcupine.Operation {
	return porcupine.Operation{ClientId: client, Input: call{client, 0, k}, Call: began, Output: a, Return: ended}
}

// The checker is worth its name: each of these histories is wrong by one answer,
// and right if that is another, or comes at another time.
func TestCheckerRejectsHistoriesThatAreWrong(t *testing.T) {
	born := op(1, 2, 1, insert, yes)
	for name, test := range map[string]struct{ wrong, right []porcupine.Operation }{
		"lent to two": {
			[]porcupine.Operation{born, op(3, 4, 1, acquire, yes), op(5, 6, 2, acquire, yes)},
			[]porcupine.Operation{born, op(3, 4, 1, acquire, yes), op(5, 6, 2, acquire, busy)},
		},
		"lent before it was given back": {
			[]porcupine.Operation{born, op(3, 4, 1, acquire, yes), op(5, 6, 2, acquire, yes), op(7, 8, 1, release, yes)},
			[]porcupine.Operation{born, op(3, 4, 1, acquire, yes), op(5, 8, 2, acquire, yes), op(6, 7, 1, release, yes)},
		},
		"busy with nobody": {
			[]porcupine.Operation{born, op(3, 4, 1, acquire, yes), op(5, 6, 1, release, yes), op(7, 8, 2, acquire, busy)},
			[]porcupine.Operation{born, op(3, 4, 1, acquire, yes), op(5, 7, 1, release, yes), op(6, 8, 2, acquire, busy)},
		},
		"lent after it was retired": {
			[]porcupine.Operation{born, op(3, 4, 1, retire, orphan), op(5, 6, 2, acquire, yes)},
			[]porcupine.Operation{born, op(3, 4, 1, retire, orphan), op(5, 6, 2, acquire, notFound)},
		},
		"lent to a waiter after another has found it gone": {
			[]porcupine.Operation{born, op(3, 4, 1, acquire, yes), op(5, 20, 2, acquire, yes), op(6, 19, 3, retire, yes),
				op(7, 8, 1, has, no), op(9, 10, 1, release, yes)},
			[]porcupine.Operation{born, op(3, 4, 1, acquire, yes), op(5, 20, 2, acquire, notFound), op(6, 19, 3, retire, yes),
				op(7, 8, 1, has, no), op(9, 10, 1, release, orphan)},
		},
		"two owners": {
			[]porcupine.Operation{born, op(3, 4, 1, acquire, yes), op(5, 8, 2, retire, orphan), op(6, 7, 1, release, orphan)},
			[]porcupine.Operation{born, op(3, 4, 1, acquire, yes), op(5, 8, 2, retire, orphan), op(6, 7, 1, release, yes)},
		},
		"no owner": {
			[]porcupine.Operation{born, op(3, 4, 1, acquire, yes), op(5, 8, 2, retire, yes), op(6, 7, 1, release, yes)},
			[]porcupine.Operation{born, op(3, 4, 1, acquire, yes), op(5, 8, 2, retire, yes), op(6, 7, 1, release, orphan)},
		},
		"retired twice": {
			[]porcupine.Operation{born, op(3, 6, 1, retire, orphan), op(4, 5, 2, retire, orphan)},
			[]porcupine.Operation{born, op(3, 6, 1, retire, orphan), op(4, 5, 2, retire, no)},
		},
		"found after it was retired": {
			[]porcupine.Operation{born, op(3, 4, 1, retire, orphan), op(5, 6, 2, has, yes)},
			[]porcupine.Operation{born, op(3, 6, 1, retire, orphan), op(4, 5, 2, has, yes)},
		},
		"not found although the registry is closed": {
			[]porcupine.Operation{born, op(3, 4, 0, closing, yes), op(3, 4, 0, closed, orphan), op(5, 6, 1, acquire, notFound)},
			[]porcupine.Operation{born, op(3, 4, 0, closing, yes), op(3, 4, 0, closed, orphan), op(5, 6, 1, acquire, shutdown)},
		},
		"shutdown although nobody closes": {
			[]porcupine.Operation{born, op(3, 4, 1, retire, orphan), op(5, 6, 1, acquire, shutdown)},
			[]porcupine.Operation{born, op(3, 4, 1, retire, orphan), op(5, 6, 1, acquire, notFound)},
		},
	} {
		if porcupine.CheckOperations(registryModel(), test.wrong) {
			t.Errorf("%s: accepted", name)
		}
		if !porcupine.CheckOperations(registryModel(), test.right) {
			t.Errorf("%s: the right one was rejected", name)
		}
		if text := describe(test.wrong); text == "" {
			t.Errorf("%s: not described", name)
		}
	}
}
