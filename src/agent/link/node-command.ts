import type { ResultAsync } from 'neverthrow';

/** What a server asks the agent of a node to do with its allocations. */
export type NodeCommand =
  /** `task` null: every task that runs; `all`: every task from its beginning. */
  | { readonly type: 'restart'; readonly allocationId: string; readonly task: string | null; readonly all: boolean }
  /** `task` null: every task that runs. */
  | { readonly type: 'signal'; readonly allocationId: string; readonly task: string | null; readonly signal: string }
  /**
   * `task` null: all tasks. Answers one `AllocationUsage`. `eachProcess`: the server takes what each process uses; servers of earlier
   * versions, which do not say so, take the numbers of the processes only.
   */
  | {
      readonly type: 'stats';
      readonly allocationId: string;
      readonly task: string | null;
      readonly eachProcess?: true;
    }
  /** Answers the results of the checks of the allocation's services by their ids. */
  | { readonly type: 'checks'; readonly allocationId: string }
  /** Answers one list of `FileDescription`. Paths are relative to the allocation's folder, with or without a slash in front. */
  | { readonly type: 'list_files'; readonly allocationId: string; readonly path: string }
  /** Answers one `FileDescription`. */
  | { readonly type: 'stat_file'; readonly allocationId: string; readonly path: string }
  /** Answers the bytes. `limit` null, 0 or less: to the end. */
  | {
      readonly type: 'read_file';
      readonly allocationId: string;
      readonly path: string;
      readonly offset: number;
      readonly limit: number | null;
    }
  /** Answers the bytes, and with `follow` what is added to the file until the caller goes away. */
  | ({ readonly type: 'stream_file'; readonly allocationId: string; readonly path: string } & StreamPosition)
  /** The same for the output of a task, over the files that it is kept in. */
  | ({
      readonly type: 'stream_logs';
      readonly allocationId: string;
      readonly task: string;
      readonly stream: OutputStream;
    } & StreamPosition)
  /** Answers one `HostUsage`. */
  | { readonly type: 'host_stats' }
  /** Removes the folder of an allocation that has ended; `allocationId` null: those of all that have. */
  | { readonly type: 'collect'; readonly allocationId: string | null }
  /** Runs a command beside a task, as the task's driver would. */
  | {
      readonly type: 'exec';
      readonly allocationId: string;
      readonly task: string;
      readonly command: readonly string[];
      readonly terminal: boolean;
    };

/** One of the two outputs of a task. */
export type OutputStream = 'stdout' | 'stderr';

/** Where a stream begins: this many bytes after the start, or before the end. */
export interface StreamPosition {
  /** Bytes. */
  readonly offset: number;
  /** What the offset counts from; from the end it counts backwards. */
  readonly origin: 'start' | 'end';
  /** Whether what is added later comes as well. */
  readonly follow: boolean;
}

/** What the caller sends to a command that runs. */
export type CommandInput =
  | { readonly type: 'data'; readonly bytes: Uint8Array }
  | { readonly type: 'end' }
  | { readonly type: 'resize'; readonly rows: number; readonly columns: number };

/** One item of the answer to a command. */
export type CommandOutput =
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'data'; readonly stream: OutputStream; readonly bytes: Uint8Array }
  | { readonly type: 'closed'; readonly stream: OutputStream }
  | { readonly type: 'exited'; readonly code: number }
  /** A command that had begun cannot continue; the last output. */
  | { readonly type: 'failed'; readonly message: string }
  /** A piece of a file; `offset` is where the next one begins. */
  | { readonly type: 'piece'; readonly file: string; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly type: 'file_event'; readonly file: string; readonly event: 'deleted' | 'truncated' };

/** Why a command is not carried out. */
export interface CommandRefused {
  /** `invalid`: it can never be carried out. `not_found`: its task, file or allocation does not exist, or no longer. `failed`: another reason. */
  readonly type: 'command_invalid' | 'command_not_found' | 'command_failed';
  /**
   * Of a failure that the caller caused. `invalid`: the request has a value that it cannot have. `not_found`: it names what does not
   * exist. `state`: the present state of the task, allocation or node forbids it. Absent: the server or the node failed.
   */
  readonly reason?: FaultOfCaller;
  readonly message: string;
}

type FaultOfCaller = 'invalid' | 'not_found' | 'state';

/**
 * Carries out a command. Resolves when it has begun. It continues while its output is read, and ends when the iterator is
 * closed or the signal aborts.
 */
export type CommandPerformer = (
  command: NodeCommand,
  input: AsyncIterable<CommandInput>,
  signal: AbortSignal,
) => ResultAsync<AsyncIterable<CommandOutput>, CommandRefused>;

/** A file or folder as listings show it. */
export interface FileDescription {
  readonly Name: string;
  readonly IsDir: boolean;
  /** Bytes. */
  readonly Size: number;
  /** Kind and rights, such as `-rw-r--r--`. */
  readonly FileMode: string;
  readonly ModTime: string;
  /** The media type that the content suggests; absent in lists. */
  readonly ContentType?: string;
}

/** What is used, as far as the driver knows: bytes, and percent of one processor. */
export interface Usage {
  readonly residentBytes: number;
  readonly userPercent: number;
  readonly systemPercent: number;
}

/** What all processes of a task use together, and each of them. */
export interface TaskUsage extends Usage {
  readonly processes: readonly ProcessUsage[];
}

export interface ProcessUsage extends Usage {
  readonly pid: number;
}

/** What a host uses and has, in bytes; of processors the shares since the last reading, in percent. */
export interface HostUsage {
  readonly memory: { readonly total: number; readonly available: number };
  readonly processors: readonly {
    readonly user: number;
    readonly system: number;
    readonly idle: number;
    readonly megahertz: number;
  }[];
  /** The disk of the agent's folder; null when it has none. */
  readonly disk: { readonly folder: string; readonly size: number; readonly available: number } | null;
  /** Seconds. */
  readonly uptime: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface AllocationUsage {
  readonly tasks: Readonly<Record<string, TaskUsage>>;
  /** Of one processor of the host; absent from agents of earlier versions. */
  readonly megahertz?: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export function commandRefused(why: 'invalid' | 'not_found' | 'failed', message: string): CommandRefused {
  return { type: `command_${why}`, message };
}

/** A command that clients of Nomad take for a failure, and that the caller caused. */
export function callerFailed(reason: FaultOfCaller, message: string): CommandRefused {
  return { type: 'command_failed', reason, message };
}
