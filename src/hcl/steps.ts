/**
 * A computation in steps: each `next` does one short step, and the last one returns the value. A caller that yields to other work
 * between two steps passes `true`, which starts a new turn with a full budget.
 */
export type Steps<Value> = Generator<undefined, Value, boolean | undefined>;

/** Runs all steps at once. */
export function finish<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const step = steps.next(false);
    if (step.done === true) return step.value;
  }
}

/** A point where work can be interrupted. If the caller begins a new turn here, its budget is refilled. */
export function* interruption(budget: { beginTurn(): void }): Steps<void> {
  if ((yield) === true) budget.beginTurn();
}
