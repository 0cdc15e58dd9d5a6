import { spawn } from 'node:child_process';
import { closeSync, constants, openSync, write } from 'node:fs';
import type { Readable } from 'node:stream';
import { err, ok, type Result } from 'neverthrow';
import type { IPty } from 'node-pty';
import {
  type CommandInput,
  type CommandOutput,
  type CommandRefused,
  commandRefused,
} from '../../../src/agent/link/node-command.js';
import { resultOr } from '../../../src/shared/values.js';
import { commandOutlet, type Outlet, startFault } from './raw-exec-session.js';
import type { ExecRequest } from './task-driver.js';

const messageBytes = 4096;

/** The terminal has no size until the caller sends one. The first byte of its output confirms that. */
const script = 'stty rows 0 columns 0 2>/dev/null; printf "\\001"; exec "$@"';
const ready = 1;

/** A command in a task's environment, in its own terminal. Needs the package `node-pty`. */
export async function runInTerminal(
  request: ExecRequest,
): Promise<Result<AsyncIterable<CommandOutput>, CommandRefused>> {
  const fault = startFault(request);
  if (fault !== undefined) return err(fault);
  const library = await loadLibrary();
  if (library === undefined) {
    return err(
      commandRefused(
        'failed',
        'This node cannot open a terminal: the optional package "node-pty" is not installed on it',
      ),
    );
  }
  // The task may have ended, or the caller disconnected, while the library was loading.
  if (request.signal.aborted || request.taskEnded.aborted) return ok(commandOutlet(request, () => undefined));
  const terminal = library.spawn('/bin/sh', ['-c', script, 'signalbox-exec', ...request.command], {
    name: 'xterm',
    cwd: request.directory,
    env: { ...request.environment, TERM: 'xterm' },
    encoding: null,
  });
  return ok(connect(terminal, request));
}

function connect(terminal: IPty, request: ExecRequest): Outlet {
  let over = false;
  const device = deviceOf(terminal);
  const outlet = commandOutlet(request, () => {
    if (!over) kill(terminal);
  });
  let passing = Promise.resolve();
  let isReady: () => void = () => undefined;
  const prepared = new Promise<void>((resolve) => {
    isReady = resolve;
  });
  let begun = false;
  let pieces = 0;
  const pass = async (bytes: Buffer): Promise<void> => {
    terminal.pause();
    for (let at = 0; at < bytes.length; at += messageBytes) {
      await outlet.put({ type: 'data', stream: 'stdout', bytes: bytes.subarray(at, at + messageBytes) });
    }
    if (!over) terminal.resume();
  };
  // Without an encoding the library emits bytes, despite its types.
  terminal.onData((data: string | Buffer) => {
    const bytes = Buffer.from(data);
    const isFirst = !begun && bytes[0] === ready;
    begun = true;
    pieces += 1;
    isReady();
    passing = passing.then(() => pass(isFirst ? bytes.subarray(1) : bytes));
  });
  const input = inputOf(terminal);
  keepUntil(terminal, async () => {
    let before = -1;
    for (let round = 0; round < quietRounds && before !== pieces; round += 1) {
      before = pieces;
      await passing;
      await new Promise((resolve) => setTimeout(resolve, quietMs));
    }
    await input?.close();
  });
  terminal.onExit(({ exitCode, signal: by }) => {
    over = true;
    if (device !== undefined) closeSync(device);
    isReady();
    passing
      .then(() => {
        outlet.push({ type: 'closed', stream: 'stdout' });
        outlet.push({ type: 'exited', code: by !== undefined && by > 0 ? 128 + by : exitCode });
      })
      .finally(() => outlet.end())
      .catch(() => undefined);
  });
  prepared.then(() => feed({ terminal, device, input, isOver: () => over }, request.input)).catch(() => outlet.end());
  return outlet;
}

/** Milliseconds without output after which a terminal whose process has ended counts as drained. */
const quietMs = 20;
/** Number of reads after which a process that still writes counts as a leftover. */
const quietRounds = 50;

/**
 * The device of the terminal, held open until the library has finished with it: otherwise the end of the last process that has it
 * open counts as the end of its output, and unread output is lost.
 */
function deviceOf(terminal: IPty): number | undefined {
  const { ptsName } = terminal as IPty & { readonly ptsName?: string };
  if (ptsName === undefined) return undefined;
  return resultOr(undefined, () => openSync(ptsName, constants.O_RDWR | constants.O_NOCTTY));
}

/**
 * The library closes a terminal 200 ms after the end of its process. Output that was not read by then is lost, for example if the caller
 * reads slowly or this process is busy. Here the terminal is closed when no more output arrives and nothing is written to it: `untilIdle`
 * waits for that.
 */
function keepUntil(terminal: IPty, untilIdle: () => Promise<void>): void {
  const { _socket: socket } = terminal as IPty & { readonly _socket?: Readable };
  if (socket === undefined) return;
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    const destroyed = (): void => void destroy(error);
    untilIdle().then(destroyed, destroyed);
    return socket;
  };
}

/** Undefined for a version of the library that does not expose its file descriptor, or closes it on its own. */
function inputOf(terminal: IPty): TerminalInput | undefined {
  const { fd, _socket: socket } = terminal as IPty & { readonly fd?: number; readonly _socket?: Readable };
  return fd === undefined || socket === undefined ? undefined : new TerminalInput(fd);
}

interface Fed {
  readonly terminal: IPty;
  readonly device: number | undefined;
  readonly input: TerminalInput | undefined;
  readonly isOver: () => boolean;
}

async function feed(fed: Fed, input: AsyncIterable<CommandInput>): Promise<void> {
  for await (const message of input) {
    if (fed.isOver() || fed.input?.isClosed === true) return;
    try {
      await passOn(fed, message);
    } catch {
      // A terminal whose process has just ended accepts no input; the end is reported separately.
    }
  }
}

async function passOn(fed: Fed, message: CommandInput): Promise<void> {
  if (message.type === 'data') {
    if (fed.input === undefined) fed.terminal.write(Buffer.from(message.bytes) as unknown as string);
    else await fed.input.write(message.bytes);
  } else if (message.type === 'resize') await resize(fed, message.rows, message.columns);
}

/** Sets the size; 0 means unknown. */
async function resize({ terminal, device }: Fed, rows: number, columns: number): Promise<void> {
  if (rows > 0 && columns > 0) return terminal.resize(columns, rows);
  // The library rejects 0.
  if (device === undefined) return;
  const size = ['rows', String(rows), 'columns', String(columns)];
  const stty = spawn('stty', size, { stdio: [device, 'ignore', 'ignore'] });
  await new Promise<void>((resolve) => stty.once('close', () => resolve()).once('error', () => resolve()));
}

function kill({ pid }: IPty): void {
  // The library does not wait until its process has its own group.
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, 'SIGKILL');
      return;
    } catch {
      // The group does not exist yet, or has ended meanwhile.
    }
  }
}

async function loadLibrary(): Promise<typeof import('node-pty') | undefined> {
  try {
    return await import('node-pty');
  } catch {
    return undefined;
  }
}

/** The most bytes per write: the size of a terminal's input buffer. */
const pieceBytes = 4096;
/** The shortest and the longest pause between attempts while the buffer is full, in milliseconds. */
const firstPause = 1;
const longestPause = 50;

/**
 * Writes to a terminal as fast as its process reads. The library's own writer buffers without a limit, polls without a pause,
 * and continues after the terminal was closed, when its descriptor may belong to another file. For one writer at a time.
 */
class TerminalInput {
  readonly #terminal: number;
  #writing: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** `terminal`: its non-blocking file descriptor. */
  constructor(terminal: number) {
    this.#terminal = terminal;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolves when all bytes are written or the input was closed. Rejects if the terminal accepts no more input. */
  async write(bytes: Uint8Array): Promise<void> {
    let pause = firstPause;
    for (let at = 0; at < bytes.length && !this.#isClosed; ) {
      const attempt = writeOnce(this.#terminal, bytes.subarray(at, at + pieceBytes));
      this.#writing = attempt.catch(() => undefined);
      const taken = await attempt;
      at += taken;
      if (taken > 0) pause = firstPause;
      else {
        await new Promise((resume) => setTimeout(resume, pause).unref());
        pause = Math.min(pause * 2, longestPause);
      }
    }
  }

  /** Ends the input. When it resolves, the descriptor is unused and can be closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
  }
}

/** Returns the number of bytes written. */
function writeOnce(file: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(file, bytes, (error, taken) => {
      if (error === null) resolve(taken);
      else if (error.code === 'EAGAIN') resolve(0);
      else reject(error);
    });
  });
}
