/** Evaluations that are counted at once; of those that come later the ones that were counted first are forgotten. */
const mostCounted = 1000;

/** What went wrong with the evaluations that an engine has tried, as far as it tries them again. */
export class Troubles {
  /** How often the work of an evaluation has thrown. */
  readonly faults = new Counts();
  /** How often the plan of an evaluation did not hold any more. */
  readonly conflicts = new Counts();
  /** How the store failed at the last try; undefined when it did not. */
  storeFailure: string | undefined;
}

/**
 * Numbers by ID. Somebody else may end what is counted here, such as another engine or a newer evaluation of the job, and nobody reports: so
 * there are never more than a thousand.
 */
class Counts {
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#counts.size;
  }

  /** How often it was counted since it was last forgotten. */
  of(id: string): number {
    return this.#counts.get(id) ?? 0;
  }

  count(id: string): void {
    const count = this.of(id) + 1;
    this.#counts.delete(id);
    this.#counts.set(id, count);
    const [oldest] = this.#counts.keys();
    if (oldest !== undefined && this.#counts.size > mostCounted) this.#counts.delete(oldest);
  }

  forget(id: string): void {
    this.#counts.delete(id);
  }
}
