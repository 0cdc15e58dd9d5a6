import { errAsync, type ResultAsync } from 'neverthrow';
import {
  type CommandInput,
  type CommandOutput,
  type CommandPerformer,
  type CommandRefused,
  commandRefused,
  type NodeCommand,
} from '../../agent/link/node-command.js';

/** The agents that this process can talk to, by node. The newest connection of a node counts. */
export class NodeSwitch {
  readonly #performers = new Map<string, CommandPerformer>();

  /** Takes commands for a node until the function that it gives is called. */
  attach(nodeId: string, performer: CommandPerformer): () => void {
    this.#performers.set(nodeId, performer);
    return () => {
      if (this.#performers.get(nodeId) === performer) this.#performers.delete(nodeId);
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
}
