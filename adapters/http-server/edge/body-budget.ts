import type { BodyAllowance, HttpRequest, RequestBody } from '../http-message.js';

/** Bytes of request bodies that a handler holds at once, over all its requests. */
export class BodyBudget {
  readonly #maximum: number;
  #held = 0;

  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  /** Bytes held now. */
  get held(): number {
    return this.#held;
  }

  /** False, and nothing taken, when the bytes would exceed the budget. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#maximum) return false;
    this.#held += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#held -= bytes;
  }
}

/** The body of one request: read at most once, counted against the budget until `release`. */
export class HeldBody {
  readonly #request: HttpRequest;
  readonly #budget: BodyBudget;
  #limit: number;
  /** A further budget that the body counts against. */
  #share: BodyBudget | undefined;
  #held = 0;
  #released = false;

  constructor(request: HttpRequest, budget: BodyBudget, limit: number) {
    this.#request = request;
    this.#budget = budget;
    this.#limit = limit;
  }

  /** Maximum number of bytes that are read. */
  narrow(limit: number): void {
    this.#limit = Math.min(this.#limit, limit);
  }

  /** Also counts the body against a smaller budget. Before it is read. */
  countAgainst(share: BodyBudget): void {
    this.#share = share;
  }

  read(): Promise<RequestBody> {
    const allowance: BodyAllowance = { limit: this.#limit, take: (bytes) => this.#take(bytes) };
    return this.#request.readBody(allowance);
  }

  #take(bytes: number): boolean {
    if (this.#released || this.#share?.take(bytes) === false) return false;
    if (!this.#budget.take(bytes)) {
      this.#share?.release(bytes);
      return false;
    }
    this.#held += bytes;
    return true;
  }

  /** Gives back what the body took; it takes nothing any more. */
  release(): void {
    this.#released = true;
    this.#budget.release(this.#held);
    this.#share?.release(this.#held);
    this.#held = 0;
  }
}
