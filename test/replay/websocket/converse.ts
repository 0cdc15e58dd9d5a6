import type http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type RawData, WebSocket } from 'ws';
import { targetOf } from '../http/exchange.js';
import type { Answered, Step } from '../http/transcript.js';
import { type Frame, readable } from './readable.js';

/** What a step says, in order. */
export type Act =
  /** A text message: JSON of the value, or a text as it is. */
  | { readonly send: unknown }
  /** Input for the command. */
  | { readonly stdin: string | { readonly base64: string } }
  | { readonly frame: { readonly opcode?: number; readonly payload?: string; readonly final?: boolean } }
  | { readonly await: Wanted }
  /** Milliseconds. */
  | { readonly pause: number };

/** Waits until the streams so far hold the texts, the exit was told, or so many pongs have come. */
interface Wanted {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly exited?: boolean;
  readonly pongs?: number;
}

const endWithinMs = 10_000;
const lookAgainMs = 10;
const opcodes = { continuation: 0, text: 1, ping: 9, pong: 10 };

/**
 * Opens a WebSocket, says what the step says, and gives what came back until the connection ended. Never rejects. `onSaid` is
 * called when all is said.
 */
export async function converse(origin: string, step: Step, onSaid?: () => void): Promise<Answered> {
  const began = performance.now();
  const url = `${origin.replace(/^http/, 'ws')}${targetOf(step)}`;
  const webSocket = new WebSocket(url, {
    headers: { ...step.headers },
    perMessageDeflate: false,
    followRedirects: false,
  });
  webSocket.on('error', () => undefined);
  const talked = new Talk(webSocket, step.limitMs ?? endWithinMs);
  const opened = await new Promise<Omit<Answered, 'ms'> | undefined>((resolve) => {
    webSocket.once('open', () => resolve(undefined));
    webSocket.once('close', () => resolve({ status: 0, headers: {}, text: 'the connection broke' }));
    webSocket.once('unexpected-response', (_request, response) => void refused(response).then(resolve));
  });
  const ms = (): number => performance.now() - began;
  if (opened !== undefined) {
    webSocket.terminate();
    return { ...opened, ms: ms() };
  }
  const conversation = await talked.perform(step.talk ?? [], onSaid);
  return { status: 101, headers: {}, text: '', conversation, ms: ms() };
}

async function refused(response: http.IncomingMessage): Promise<Omit<Answered, 'ms'>> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
  return { status: response.statusCode ?? 0, headers: response.headers as Answered['headers'], text };
}

/** One conversation, and what is heard of it. */
class Talk {
  readonly #webSocket: WebSocket;
  readonly #limitMs: number;
  readonly #frames: Frame[] = [];
  readonly #output = { stdout: '', stderr: '', exited: false };
  readonly #pongs: string[] = [];
  #end: unknown;
  readonly #ended: Promise<void>;

  constructor(webSocket: WebSocket, limitMs: number) {
    this.#webSocket = webSocket;
    this.#limitMs = limitMs;
    webSocket.on('message', (data, isBinary) => this.#hear(bytesOf(data), isBinary));
    webSocket.on('pong', (payload) => this.#pongs.push(payload.toString()));
    this.#ended = new Promise((resolve) => {
      webSocket.on('close', (code, reason) => {
        // Without a close frame.
        this.#end = code === 1006 ? 'cut' : { code: code === 1005 ? null : code, reason: reason.toString() };
        resolve();
      });
    });
  }

  async perform(acts: readonly Act[], onSaid?: () => void): Promise<unknown> {
    const notCome: Wanted[] = [];
    for (const act of acts) {
      if ('await' in act) {
        if (!(await this.#comes(act.await))) notCome.push(act.await);
      } else if ('pause' in act) await pause(act.pause);
      else this.#say(act);
    }
    onSaid?.();
    const patience = new AbortController();
    await Promise.race([
      this.#ended,
      pause(this.#limitMs, undefined, { signal: patience.signal }).catch(() => undefined),
    ]);
    patience.abort();
    const end = this.#end ?? 'still open';
    this.#webSocket.terminate();
    return {
      accept: 'right',
      frames: readable(this.#frames),
      ...(this.#pongs.length > 0 ? { pongs: this.#pongs } : {}),
      ...(notCome.length > 0 ? { notCome } : {}),
      end,
    };
  }

  #say(act: Exclude<Act, { readonly await: unknown } | { readonly pause: unknown }>): void {
    const webSocket = this.#webSocket;
    if (webSocket.readyState !== webSocket.OPEN) return;
    if ('send' in act) {
      webSocket.send(typeof act.send === 'string' ? act.send : JSON.stringify(act.send));
      return;
    }
    if ('stdin' in act) {
      const bytes = typeof act.stdin === 'string' ? Buffer.from(act.stdin) : Buffer.from(act.stdin.base64, 'base64');
      webSocket.send(JSON.stringify({ stdin: { data: bytes.toString('base64') } }));
      return;
    }
    const { opcode = opcodes.text, payload = '', final = true } = act.frame;
    if (opcode === opcodes.ping) webSocket.ping(payload);
    else if (opcode === opcodes.pong) webSocket.pong(payload);
    else webSocket.send(payload, { fin: final, binary: opcode !== opcodes.text && opcode !== opcodes.continuation });
  }

  #hear(payload: Buffer, isBinary: boolean): void {
    this.#frames.push({ payload, isBinary });
    try {
      const message = JSON.parse(payload.toString()) as Readonly<
        Record<string, { readonly data?: string } | undefined>
      >;
      for (const stream of ['stdout', 'stderr'] as const) {
        this.#output[stream] += Buffer.from(message[stream]?.data ?? '', 'base64').toString('latin1');
      }
      if (message['exited'] !== undefined) this.#output.exited = true;
    } catch {
      // It is compared as it came.
    }
  }

  async #comes(wanted: Wanted): Promise<boolean> {
    const deadline = performance.now() + this.#limitMs;
    while (!this.#has(wanted)) {
      if (this.#end !== undefined || performance.now() > deadline) return false;
      await pause(lookAgainMs);
    }
    return true;
  }

  #has({ stdout = '', stderr = '', exited = false, pongs = 0 }: Wanted): boolean {
    const output = this.#output;
    const holds = (stream: string, text: string): boolean => stream.includes(Buffer.from(text).toString('latin1'));
    const told = holds(output.stdout, stdout) && holds(output.stderr, stderr);
    return told && (!exited || output.exited) && this.#pongs.length >= pongs;
  }
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
