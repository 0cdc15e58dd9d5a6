import type { ResultAsync } from 'neverthrow';

/** A command from a server to a node's agent about its allocations. */
export type NodeCommand =
  /** `task` null: every running task; `all`: every task from its beginning. */
  | { readonly type: 'restart'; readonly allocationId: string; readonly task: string | null; readonly all: boolean }
  /** `task` null: every running task. */
  | { readonly type: 'signal'; readonly allocationId: string; readonly task: string | null; readonly signal: string }
  /**
   * `task` null: all tasks. Returns one `AllocationUsage`. `eachProcess`: the server accepts the usage of each process; servers of earlier
   * versions, which do not set it, accept process IDs only.
   */
  | {
      readonly type: 'stats';
      readonly allocationId: string;
      readonly task: string | null;
      readonly eachProcess?: true;
    }
  /** Returns the results of the service checks by check ID. */
  | { readonly type: 'checks'; readonly allocationId: string }
  /** Returns one list of `FileDescription`. Paths are relative to the allocation's folder, with or without a leading slash. */
  | { readonly type: 'list_files'; readonly allocationId: string; readonly path: string }
  /** Returns one `FileDescription`. */
  | { readonly type: 'stat_file'; readonly allocationId: string; readonly path: string }
  /** Returns the bytes. `limit` null, 0 or less: to the end. */
  | {
      readonly type: 'read_file';
      readonly allocationId: string;
      readonly path: string;
      readonly offset: number;
      readonly limit: number | null;
    }
  /** Returns the bytes, and with `follow` also what is appended until the caller disconnects. */
  | ({ readonly type: 'stream_file'; readonly allocationId: string; readonly path: string } & StreamPosition)
  /** The same for a task's output, across its rotated log files. */
  | ({
      readonly type: 'stream_logs';
      readonly allocationId: string;
      readonly task: string;
      readonly stream: OutputStream;
    } & StreamPosition)
  /**
   * Returns one `LogRange` and then its bytes. `from`: the position of the first byte, null for the last `limit` bytes; `limit` null: to the
   * end that the output has when the command begins. Unknown to agents of earlier versions.
   */
  | {
      readonly type: 'read_log';
      readonly allocationId: string;
      readonly task: string;
      readonly stream: OutputStream;
      readonly from: number | null;
      readonly limit: number | null;
    }
  /** Returns one `HostUsage`. */
  | { readonly type: 'host_stats' }
  /** Removes the folder of an ended allocation; `allocationId` null: of all ended allocations. */
  | { readonly type: 'collect'; readonly allocationId: string | null }
  /** Runs a command in a task's environment, as the task's driver would. */
  | {
      readonly type: 'exec';
      readonly allocationId: string;
      readonly task: string;
      readonly command: readonly string[];
      readonly terminal: boolean;
    };

/** One of a task's two outputs. */
export type OutputStream = 'stdout' | 'stderr';

/** Where a stream starts: this many bytes after the start, or before the end. */
export interface StreamPosition {
  /** Bytes. */
  readonly offset: number;
  /** The origin of the offset; from the end it counts backwards. */
  readonly origin: 'start' | 'end';
  /** Whether later output follows. */
  readonly follow: boolean;
}

/** What the caller sends to a running command. */
export type CommandInput =
  | { readonly type: 'data'; readonly bytes: Uint8Array }
  | { readonly type: 'end' }
  | { readonly type: 'resize'; readonly rows: number; readonly columns: number };

/** One item of a command's output. */
export type CommandOutput =
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'data'; readonly stream: OutputStream; readonly bytes: Uint8Array }
  | { readonly type: 'closed'; readonly stream: OutputStream }
  | { readonly type: 'exited'; readonly code: number }
  /** The last output: a command that had started cannot continue. */
  | { readonly type: 'failed'; readonly message: string }
  /** A piece of a file; `offset` is where the next piece starts. */
  | { readonly type: 'piece'; readonly file: string; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly type: 'file_event'; readonly file: string; readonly event: 'deleted' | 'truncated' };

/** Why a command was refused. */
export interface CommandRefused {
  /** `invalid`: it can never be carried out. `not_found`: its task, file or allocation does not exist (any more). `failed`: another reason. */
  readonly type: 'command_invalid' | 'command_not_found' | 'command_failed';
  /**
   * The kind of a failure that the caller caused. `invalid`: the request has an invalid value. `not_found`: it names something that does not
   * exist. `state`: the current state of the task, allocation or node does not allow it. Absent: the server or the node failed.
   */
  readonly reason?: 'invalid' | 'not_found' | 'state';
  readonly message: string;
}

/**
 * Carries out a command. Resolves when it has started. It continues while its output is read, and ends when the iterator is
 * closed or the signal aborts.
 */
export type CommandPerformer = (
  command: NodeCommand,
  input: AsyncIterable<CommandInput>,
  signal: AbortSignal,
) => ResultAsync<AsyncIterable<CommandOutput>, CommandRefused>;

/** A range of a task's output. Positions are bytes since the task began to write; rotation does not change them. */
export interface LogRange {
  /** The first byte that is still kept. */
  readonly firstByte: number;
  /** The position of the next byte: so many have been written. */
  readonly endByte: number;
  /** How many files are kept. */
  readonly files: number;
  /** The range that is returned, without the byte at `to`. */
  readonly from: number;
  readonly to: number;
}

/** A file or folder in a listing. */
export interface FileDescription {
  readonly Name: string;
  readonly IsDir: boolean;
  /** Bytes. */
  readonly Size: number;
  /** Type and permissions, such as `-rw-r--r--`. */
  readonly FileMode: string;
  readonly ModTime: string;
  /** The detected media type; absent in listings. */
  readonly ContentType?: string;
}

/** Resource usage, as far as the driver knows it: bytes, and percent of one processor. */
export interface Usage {
  readonly residentBytes: number;
  readonly userPercent: number;
  readonly systemPercent: number;
}

/** Usage of all processes of a task together, and of each. */
export interface TaskUsage extends Usage {
  readonly processes: readonly ProcessUsage[];
}

export interface ProcessUsage extends Usage {
  readonly pid: number;
}

/** Resources and usage of a host, in bytes; processor shares since the last reading, in percent. */
export interface HostUsage {
  readonly memory: { readonly total: number; readonly available: number };
  readonly processors: readonly {
    readonly user: number;
    readonly system: number;
    readonly idle: number;
    readonly megahertz: number;
  }[];
  /** The disk of the agent's folder; null when unknown. */
  readonly disk: { readonly folder: string; readonly size: number; readonly available: number } | null;
  /** Seconds. */
  readonly uptime: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface AllocationUsage {
  readonly tasks: Readonly<Record<string, TaskUsage>>;
  /** MHz of one processor of the host; absent from agents of earlier versions. */
  readonly megahertz?: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export function commandRefused(why: 'invalid' | 'not_found' | 'failed', message: string): CommandRefused {
  return { type: `command_${why}`, message };
}

/** A command failure in Nomad's form, which the caller caused. */
export function callerFailed(reason: NonNullable<CommandRefused['reason']>, message: string): CommandRefused {
  return { type: 'command_failed', reason, message };
}
