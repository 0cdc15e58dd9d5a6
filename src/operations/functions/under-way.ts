import { Admission, LiveCounts } from '../../functions/admission.js';
import type { FunctionPolicy } from '../../functions/define-function.js';
import { runs, type StoredRun } from '../../functions/run.js';
import type { ReadView, WriteView } from '../../ports/storage.js';

/**
 * What is under way in all processes, by the names of limits: counted from the rows within the write that claims. The counts are used again
 * in a later write if the last change of the runs is one that they contain. Whatever else has changed a run, they are counted again.
 */
export class UnderWay {
  readonly #policies: ReadonlyMap<string, FunctionPolicy>;
  #counts: LiveCounts;
  /** The last change that the counts contain: the index of its write, and the run that it has stored last. */
  #last: { readonly index: number; readonly run: StoredRun } | undefined;
  /** The write whose changes are being counted, and the run that it has stored last. */
  #current: { readonly view: ReadView; stored: StoredRun | undefined } | undefined;
  /** As of the last change, no run waits that could start. */
  #isCaughtUp = false;

  constructor(policies: ReadonlyMap<string, FunctionPolicy>) {
    this.#policies = policies;
    this.#counts = this.#countsOf([]);
  }

  /** The counts within a write. */
  in(view: ReadView): LiveCounts {
    if (this.#current?.view === view) return this.#counts;
    if (!this.#isKnown(view)) {
      this.#counts = this.#countsOf(view.list(runs, { index: 'live' }).map(({ record }) => record));
      this.#last = undefined;
    }
    this.#current = { view, stored: undefined };
    return this.#counts;
  }

  /** Counts a change of a run, which the write is about to store. */
  change(view: ReadView, before: StoredRun, after: StoredRun): void {
    const counts = this.in(view);
    // A write that fails must not leave counts that look right.
    this.#last = undefined;
    if (this.#current !== undefined) this.#current.stored = after;
    counts.change(before, -1);
    counts.change(after, 1);
  }

  /** At the end of the write. */
  counted(view: ReadView, isCaughtUp: boolean): void {
    this.#isCaughtUp = isCaughtUp;
    const { view: current, stored } = this.#current ?? {};
    if (current === view && stored !== undefined) this.#last = { index: view.tableIndex(runs), run: stored };
    this.#current = undefined;
  }

  /**
   * Whether a run may begin in the write that enqueues it, which stores it next: not when it would have to be counted for that, or when
   * another one waits that could start.
   */
  begins(view: WriteView, policy: FunctionPolicy, { queued, begun }: Record<'queued' | 'begun', StoredRun>): boolean {
    if (!this.#isCaughtUp || !this.#isKnown(view)) return false;
    const isFull = new Admission(this.#counts, () => undefined, 0).isFull(policy, queued);
    if (!isFull) this.#counts.change(begun, 1);
    this.#last = { index: view.index, run: isFull ? queued : begun };
    return !isFull;
  }

  /** Whether nothing has changed since the last change that was counted. After a write that failed, another one may have its index. */
  #isKnown(view: ReadView): boolean {
    if (this.#last === undefined || view.tableIndex(runs) !== this.#last.index) return false;
    const { index, run } = this.#last;
    const row = view.get(runs, [run.number]);
    if (row?.modifyIndex !== index) return false;
    const { function: name, state, holder, starts } = row.record;
    return name === run.function && state === run.state && holder === run.holder && starts === run.starts;
  }

  #countsOf(live: readonly StoredRun[]): LiveCounts {
    return new LiveCounts(live, (name) => this.#policies.get(name));
  }
}
