import type { IdKind, Ids } from '../../ports/ids.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { EngineContext } from './engine-context.js';

/** The generated values of a commit (time and IDs), in the order of the work's requests: every run of the work gets the same ones. */
export class GeneratedValues implements Ids {
  readonly #context: Pick<EngineContext, 'clock' | 'ids'>;
  readonly #generated = new Map<IdKind, string[]>();
  readonly #taken = new Map<IdKind, number>();
  readonly #fractions: number[] = [];
  #fractionsTaken = 0;
  #time: { readonly now: Instant; readonly monotonic: Milliseconds } | undefined;

  constructor(context: Pick<EngineContext, 'clock' | 'ids'>) {
    this.#context = context;
  }

  /** Begins another run. */
  again(): this {
    this.#taken.clear();
    this.#fractionsTaken = 0;
    return this;
  }

  get time(): { readonly now: Instant; readonly monotonic: Milliseconds } {
    const { clock } = this.#context;
    this.#time ??= { now: clock.now(), monotonic: clock.monotonic() };
    return this.#time;
  }

  next(kind: IdKind): string {
    const position = this.#taken.get(kind) ?? 0;
    this.#taken.set(kind, position + 1);
    let generated = this.#generated.get(kind);
    if (generated === undefined) {
      generated = [];
      this.#generated.set(kind, generated);
    }
    generated[position] ??= this.#context.ids.next(kind);
    return generated[position];
  }

  fraction(): number {
    const position = this.#fractionsTaken;
    this.#fractionsTaken += 1;
    this.#fractions[position] ??= this.#context.ids.fraction();
    return this.#fractions[position];
  }
}
