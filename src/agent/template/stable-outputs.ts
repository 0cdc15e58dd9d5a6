import type { TaskTemplate } from '../../jobs/document/task-parts.js';
import { type Milliseconds, millisecondsFromNanos } from '../../shared/duration.js';
import type { RenderedTemplate } from './render-templates.js';

/** New output of a template that is held back until it has been stable for a while. Times are monotonic milliseconds. */
interface HeldOutput {
  readonly text: string;
  /** When the output first differed from what the task has. */
  readonly since: Milliseconds;
  /** When the output changed last. */
  readonly changedAt: Milliseconds;
}

export type HeldOutputs = ReadonlyMap<number, HeldOutput>;

interface QuietTexts {
  /** The output to write now. */
  readonly due: readonly RenderedTemplate[];
  /** By template index. */
  readonly held: HeldOutputs;
  /** When the first held output is due if nothing changes before; undefined when none is held. */
  readonly next: Milliseconds | undefined;
}

/**
 * Decides which new output is written: what has been stable for its template's minimum wait, or has differed for the maximum
 * wait. `changed` are the templates whose output differs from what the task has; all others are no longer held.
 */
export function stableOutputs(
  changed: readonly RenderedTemplate[],
  templates: readonly Pick<TaskTemplate, 'Wait'>[],
  before: HeldOutputs,
  now: Milliseconds,
): QuietTexts {
  const due: RenderedTemplate[] = [];
  const held = new Map<number, HeldOutput>();
  let next: Milliseconds | undefined;
  for (const rendered of changed) {
    const { at, text } = rendered;
    const known = before.get(at);
    const since = known?.since ?? now;
    const changedAt = known?.text === text ? known.changedAt : now;
    const dueTime = dueAt(templates[at]?.Wait ?? null, { text, since, changedAt });
    if (dueTime <= now) due.push(rendered);
    else {
      held.set(at, { text, since, changedAt });
      next = Math.min(next ?? dueTime, dueTime);
    }
  }
  return { due, held, next };
}

/** The maximum wait is four times the minimum unless it is set. */
function dueAt(wait: TaskTemplate['Wait'], { since, changedAt }: HeldOutput): Milliseconds {
  if (wait === null) return since;
  const shortest = wait.Min ?? 0;
  const longest = Math.max(shortest, wait.Max ?? 4 * shortest);
  return Math.min(changedAt + millisecondsFromNanos(shortest), since + millisecondsFromNanos(longest));
}
