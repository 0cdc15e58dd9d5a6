import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Logger } from '../../src/ports/index.js';
import { messageOf } from '../../src/shared/values.js';
import { inJson } from './output/tables.js';
import { Stopped } from './stopped.js';

/** The process as a command sees it; tests replace it. */
export interface Terminal {
  out(text: string): void;
  error(text: string): void;
  /** Content of a file; `-` is standard input. Rejects with `Stopped`. */
  read(path: string): Promise<string>;
  /** Whether to print colours. */
  readonly colours: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The screen of the output; absent if it is not an interactive terminal. */
  readonly screen?: Screen | undefined;
  /** Whether standard output is a terminal, which obeys the control characters in what it gets. */
  readonly isTerminal?: boolean;
  /** For commands that forward bytes; absent if unavailable. */
  readonly streams?: Streams;
}

interface Screen {
  /** The current size in cells. */
  size(): { readonly rows: number; readonly columns: number };
}

/** Standard input and output as bytes, for commands that forward them. */
export interface Streams {
  /** Chunks of standard input until its end. For one reader. */
  input(): AsyncIterable<Uint8Array>;
  /** Resolve when there is room for more. */
  out(bytes: Uint8Array): Promise<void>;
  error(bytes: Uint8Array): Promise<void>;
  /** The local terminal; absent if standard input is not a terminal. */
  readonly keyboard?: Keyboard | undefined;
}

/** An interactive terminal. */
export interface Keyboard {
  /** Raw mode: keys arrive as typed, without echo, and none of them ends or stops this process. */
  setRaw(raw: boolean): void;
  size(): { readonly rows: number; readonly columns: number };
  /** Returns the function that ends it. */
  onResize(listener: () => void): () => void;
}

/** The terminal of this process. `NO_COLOR` and `FORCE_COLOR` are respected. */
export function processTerminal(): Terminal {
  const environment = process.env;
  const forced = environment['FORCE_COLOR'];
  return {
    out: (output) => process.stdout.write(output),
    error: (output) => process.stderr.write(output),
    read: readTextFile,
    colours:
      (environment['NO_COLOR'] ?? '') === '' && (forced !== undefined ? forced !== '0' : process.stderr.isTTY === true),
    environment,
    screen: process.stdout.isTTY && environment['TERM'] !== 'dumb' ? { size: () => sizeOf(process.stdout) } : undefined,
    isTerminal: process.stdout.isTTY === true,
    streams: processStreams(),
  };
}

function processStreams(): Streams {
  return {
    input: () => process.stdin,
    out: (bytes) => written(process.stdout, bytes),
    error: (bytes) => written(process.stderr, bytes),
    get keyboard() {
      return process.stdin.isTTY ? keyboardOf(process.stdin, process.stdout) : undefined;
    },
  };
}

/** Default size of a terminal that does not report its size. */
function sizeOf({ rows, columns }: NodeJS.WriteStream): { readonly rows: number; readonly columns: number } {
  return { rows: rows || 24, columns: columns || 80 };
}

/** Failed writes are dropped: the stream reports the error itself. */
function written(stream: NodeJS.WritableStream, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => stream.write(bytes, () => resolve()));
}

function keyboardOf(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Keyboard {
  return {
    setRaw: (raw) => void input.setRawMode(raw),
    size: () => sizeOf(output),
    onResize: (listener) => {
      output.on('resize', listener);
      return () => output.off('resize', listener);
    },
  };
}

/** The file at the path, or standard input for `-`. */
export async function readTextFile(path: string): Promise<string> {
  const content = path === '-' ? text(process.stdin) : readFile(path, 'utf8');
  return content.catch((error: unknown) => {
    throw new Stopped(`${path} cannot be read: ${messageOf(error)}`);
  });
}

/** A logger that writes one JSON line per entry to the error stream; `debug` is dropped. */
export function stderrLogger(terminal: Terminal): Logger {
  const write = (level: string, fields: Readonly<Record<string, unknown>>, message: string): void =>
    terminal.error(`${inJson({ time: new Date().toISOString(), level, message, ...fields })}\n`);
  return {
    debug: () => undefined,
    info: (fields, message) => write('info', fields, message),
    warn: (fields, message) => write('warn', fields, message),
    error: (fields, message) => write('error', fields, message),
  };
}
