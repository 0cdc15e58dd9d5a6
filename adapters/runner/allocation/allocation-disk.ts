import { type DiskNote, waitingText } from '../../../src/agent/disk/disk-note.js';
import type { DiskHandover } from '../disk/disk-handover.js';
import { isTransientFault, messageOf } from '../disk/text-file.js';
import { beforeAbort } from '../waiting.js';
import type { AllocationWork } from './allocation-work.js';

/** The disk of one allocation. Its tasks are prepared only when it is settled. */
export class AllocationDisk {
  readonly #work: AllocationWork;
  readonly #handover: DiskHandover | null;
  readonly #over = new AbortController();
  #note: DiskNote | undefined;
  #settling: Promise<void> | undefined;
  /** The reason why no task may start. */
  readonly #fault: string | undefined;

  /** Throws when the disk is full. */
  constructor(work: AllocationWork, handover: DiskHandover | null, hasBegun: boolean) {
    this.#work = work;
    this.#handover = handover;
    try {
      this.#note = handover?.claim(work, hasBegun);
    } catch (error) {
      if (isTransientFault(error)) throw error;
      this.#fault = `The state of the disk could not be written: ${messageOf(error)}`;
    }
  }

  /** Resolves when the disk is settled or the signal aborts. `say` receives the message of a task event. */
  async ready(signal: AbortSignal, say: (message: string) => void): Promise<void> {
    if (this.#fault !== undefined) throw new Error(this.#fault);
    if (this.#note?.settled === false) await this.#settled(this.#note, signal, say);
    const said = this.#note?.said ?? '';
    if (said !== '' && !signal.aborted) say(said);
  }

  /** None of its tasks will start again. */
  close(): void {
    this.#over.abort();
  }

  async #settled(note: DiskNote, signal: AbortSignal, say: (message: string) => void): Promise<void> {
    const awaited = this.#handover?.awaited(note);
    if (awaited !== undefined) say(waitingText(awaited));
    this.#settling ??= this.#settle(note);
    const settling = this.#settling;
    settling.catch(() => undefined);
    await beforeAbort(signal, settling);
    if (!signal.aborted) await settling;
  }

  /** Tasks share one attempt; after a failure the next caller starts another. */
  async #settle(note: DiskNote): Promise<void> {
    try {
      this.#note = await this.#handover?.settle(this.#work, this.#over.signal);
      if (this.#note?.settled !== true) throw new Error('the allocation has ended');
    } catch (error) {
      if (isTransientFault(error)) throw error;
      throw new Error(`The ephemeral disk of allocation ${note.from} could not be taken over: ${messageOf(error)}`);
    } finally {
      this.#settling = undefined;
    }
  }
}
