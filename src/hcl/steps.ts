/**
 * Work in parts: each `next` does one, short enough not to be noticed, and the last gives the value. Whoever has other things to do
 * between the parts says so with `next(true)`: then what one turn may cost starts anew.
 */
export type Steps<Value> = Generator<undefined, Value, boolean | undefined>;

/** All parts at once. */
export function finish<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const step = steps.next(false);
    if (step.done === true) return step.value;
  }
}

/** A point where work can be interrupted. When another turn has begun meanwhile, its budget is full again. */
export function* interruption(budget: { beginTurn(): void }): Steps<void> {
  if ((yield) === true) budget.beginTurn();
}
