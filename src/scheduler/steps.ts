/** A computation in steps, between which its caller can do other work. */
export type Steps<T> = Generator<void, T>;

/** Allocations that are examined between two yields. */
export const examinedPerStep = 256;

/** Runs all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Allocations that are changed between two yields. */
const changedPerStep = 64;

/** Applies `change` to each. Yields now and then. */
export function* changeInSteps<T>(changed: readonly T[], change: (one: T) => void): Steps<void> {
  for (const [at, one] of changed.entries()) {
    if (at % changedPerStep === 0) yield;
    change(one);
  }
}

/** Indexes records by ID. Yields now and then. */
export function* byIdInSteps<T extends { readonly ID: string }>(records: readonly T[]): Steps<ReadonlyMap<string, T>> {
  const byId = new Map<string, T>();
  for (const [at, record] of records.entries()) {
    if (at % examinedPerStep === 0) yield;
    byId.set(record.ID, record);
  }
  return byId;
}
