import type { MessageSocket } from '../../../src/client/index.js';
import { Stopped } from '../stopped.js';
import type { Keyboard, Streams } from '../terminal.js';

interface ExecSession {
  readonly socket: MessageSocket;
  readonly streams: Streams;
  /** Forward standard input; if false, the command's input ends at once. */
  readonly input: boolean;
  /** The command runs in a terminal: it receives raw keys and the size of the local terminal. */
  readonly terminal: boolean;
}

/*
 * The messages of a command that runs over a socket, as JSON with base64 data: `{"stdin":{"data":…,"close":true}}` and
 * `{"tty_size":{"height":…,"width":…}}` to it, `{"stdout":{"data":…}}`, the same of `stderr`, and last
 * `{"exited":true,"result":{"exit_code":…}}` from it (docs/interfaces: job interface, sockets).
 */

/** Exchanges messages with a command until it exits. Returns its exit code. Rejects with `Stopped` if the socket closes first. */
export async function runExecSession({ socket, streams, input, terminal }: ExecSession): Promise<number> {
  const keyboard = terminal ? streams.keyboard : undefined;
  const release = keyboard === undefined ? () => undefined : forwardKeys(keyboard, socket);
  try {
    // A read error ends the input; the command continues with the input so far.
    void sendInput(socket, input ? streams.input() : []).catch(() => endInput(socket));
    return await passOutput(socket, streams);
  } finally {
    release();
    socket.close();
  }
}

/** Forwards raw keys and size changes of the terminal to the command. Returns the function that stops it. */
function forwardKeys(keyboard: Keyboard, socket: MessageSocket): () => void {
  const sendSize = (): void => {
    const { rows, columns } = keyboard.size();
    void socket.send(JSON.stringify({ tty_size: { height: rows, width: columns } }));
  };
  keyboard.setRaw(true);
  const unfollow = keyboard.onResize(sendSize);
  sendSize();
  return () => {
    unfollow();
    keyboard.setRaw(false);
  };
}

async function sendInput(
  socket: MessageSocket,
  input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  for await (const bytes of input) {
    const data = Buffer.from(bytes).toString('base64');
    if (!(await socket.send(JSON.stringify({ stdin: { data } })))) return;
  }
  await endInput(socket);
}

async function endInput(socket: MessageSocket): Promise<void> {
  await socket.send(JSON.stringify({ stdin: { close: true } }));
}

async function passOutput(socket: MessageSocket, streams: Streams): Promise<number> {
  for await (const message of socket.messages) {
    const frame = frameIn(message);
    if (frame.stdout?.data !== undefined) await streams.out(Buffer.from(frame.stdout.data, 'base64'));
    if (frame.stderr?.data !== undefined) await streams.error(Buffer.from(frame.stderr.data, 'base64'));
    if (frame.exited === true) return frame.result?.exit_code ?? 0;
  }
  const { reason } = await socket.closed;
  throw new Stopped(reason || 'the connection was lost before the command ended');
}

interface Frame {
  readonly stdout?: { readonly data?: string };
  readonly stderr?: { readonly data?: string };
  readonly exited?: boolean;
  readonly result?: { readonly exit_code?: number };
}

function frameIn(message: string | Uint8Array): Frame {
  const text = typeof message === 'string' ? message : new TextDecoder().decode(message);
  try {
    const frame: unknown = JSON.parse(text);
    if (typeof frame === 'object' && frame !== null) return frame;
  } catch {
    // Reported below.
  }
  throw new Stopped('the server sent an invalid message: its version may differ from this one (signalbox version)');
}
