import type { Steps } from '../../../hcl/steps.js';

/** Does work in parts, each in its own turn of the event loop, so that other work continues in between. */
export async function inTurns<Value>(steps: Steps<Value>): Promise<Value> {
  for (;;) {
    const step = steps.next(true);
    if (step.done === true) return step.value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
