import type { TaskTemplate } from '../../jobs/document/task-parts.js';
import { type Milliseconds, millisecondsFromNanos } from '../../shared/duration.js';
import type { RenderedTemplate } from './render-templates.js';

/** A new string of a template that is held back until it has been the same for a while. Times are monotonic. */
interface HeldText {
  readonly text: string;
  /** When the template first had another string than the task has. */
  readonly since: Milliseconds;
  /** When it came to this one. */
  readonly changedAt: Milliseconds;
}

export type HeldTexts = ReadonlyMap<number, HeldText>;

interface QuietTexts {
  /** They are to be written now. */
  readonly due: readonly RenderedTemplate[];
  /** By template. */
  readonly held: HeldTexts;
  /** When the first of them is due, if nothing changes before; undefined when none is held. */
  readonly next: Milliseconds | undefined;
}

/**
 * Which new strings are written: those that have stayed the same for the shortest wait of their template, or have been different for the
 * longest. `changed` are the templates whose text is not the one that the task has; any other is not held any more.
 */
export function quietTexts(
  changed: readonly RenderedTemplate[],
  templates: readonly Pick<TaskTemplate, 'Wait'>[],
  before: HeldTexts,
  now: Milliseconds,
): QuietTexts {
  const due: RenderedTemplate[] = [];
  const held = new Map<number, HeldText>();
  let next: Milliseconds | undefined;
  for (const rendered of changed) {
    const { at, text } = rendered;
    const known = before.get(at);
    const since = known?.since ?? now;
    const changedAt = known?.text === text ? known.changedAt : now;
    const moment = dueAt(templates[at]?.Wait ?? null, { text, since, changedAt });
    if (moment <= now) due.push(rendered);
    else {
      held.set(at, { text, since, changedAt });
      next = Math.min(next ?? moment, moment);
    }
  }
  return { due, held, next };
}

/** The longest wait is four times the shortest one unless it is given. */
function dueAt(wait: TaskTemplate['Wait'], { since, changedAt }: HeldText): Milliseconds {
  if (wait === null) return since;
  const shortest = wait.Min ?? 0;
  const longest = Math.max(shortest, wait.Max ?? 4 * shortest);
  return Math.min(changedAt + millisecondsFromNanos(shortest), since + millisecondsFromNanos(longest));
}
