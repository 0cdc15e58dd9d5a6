/** Work that is done in steps, so that whoever goes through it can let other work go on in between. */
export type Steps<T> = Generator<void, T>;

/** Allocations that are looked at between two yields. */
export const lookedAtInStep = 256;

/** All steps at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
