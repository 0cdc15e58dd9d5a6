/** The maximum number of counted evaluations; beyond it the oldest are dropped. */
const mostCounted = 1000;

/** The failures of evaluations that an engine will retry. */
export class EvaluationFailures {
  /** How often the processing of an evaluation has thrown. */
  readonly faults = new Counts();
  /** How often the plan of an evaluation was outdated. */
  readonly conflicts = new Counts();
  /** How the store failed at the last attempt; undefined when it did not. */
  storeFailure: string | undefined;
}

/**
 * Counts by ID. Another engine, or a newer evaluation of the job, may end a counted evaluation unnoticed, so the number of entries is
 * bounded.
 */
class Counts {
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#counts.size;
  }

  /** The count since it was last reset. */
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
