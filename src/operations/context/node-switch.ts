import { errAsync, type ResultAsync } from 'neverthrow';
import {
  type CommandInput,
  type CommandOutput,
  type CommandPerformer,
  type CommandRefused,
  commandRefused,
  type NodeCommand,
} from '../../agent/link/node-command.js';

/** The agents connected to this process, by node. A newer connection of a node replaces the older one and notifies it. */
export class NodeSwitch {
  #performers: ReadonlyMap<string, CommandPerformer> = new Map();
  readonly #whenReplaced = new WeakMap<CommandPerformer, () => void>();
  readonly #watchers = new Set<() => void>();

  /** Handles commands for a node until the returned function is called or a newer connection replaces this one. */
  attach(nodeId: string, performer: CommandPerformer, whenReplaced: () => void = () => undefined): () => void {
    const older = this.#performers.get(nodeId);
    this.#whenReplaced.set(performer, whenReplaced);
    this.#change((performers) => performers.set(nodeId, performer));
    if (older !== undefined && older !== performer) this.#whenReplaced.get(older)?.();
    return () => {
      if (this.#performers.get(nodeId) === performer) this.#change((performers) => performers.delete(nodeId));
    };
  }

  /** The nodes whose agents are connected to this process. */
  nodeIds(): readonly string[] {
    return [...this.#performers.keys()];
  }

  /** Whether the node's agent is connected to this process. */
  has(nodeId: string): boolean {
    return this.#performers.has(nodeId);
  }

  /** The current connections; each change creates a new map. */
  connections(): ReadonlyMap<string, CommandPerformer> {
    return this.#performers;
  }

  /** Resolves when the connections differ from these, or when the signal aborts. */
  changed(known: ReadonlyMap<string, CommandPerformer>, signal: AbortSignal): Promise<void> {
    if (this.#performers !== known || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#watchers.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#watchers.add(wake);
      signal.addEventListener('abort', wake);
    });
  }

  perform(
    nodeId: string,
    command: NodeCommand,
    input: AsyncIterable<CommandInput>,
    signal: AbortSignal,
  ): ResultAsync<AsyncIterable<CommandOutput>, CommandRefused> {
    const performer = this.#performers.get(nodeId);
    if (performer === undefined) return errAsync(commandRefused('not_found', 'No path to node'));
    return performer(command, input, signal);
  }

  #change(change: (performers: Map<string, CommandPerformer>) => unknown): void {
    const performers = new Map(this.#performers);
    change(performers);
    this.#performers = performers;
    for (const wake of [...this.#watchers]) wake();
  }
}
