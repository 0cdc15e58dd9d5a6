import { err, ok, type Result } from 'neverthrow';
import type { IPty } from 'node-pty';
import {
  type CommandInput,
  type CommandOutput,
  type CommandRefused,
  commandRefused,
} from '../../../src/agent/link/node-command.js';
import { Outlet } from './outlet.js';
import { startFault } from './raw-exec-session.js';
import type { ExecRequest } from './task-driver.js';

const messageBytes = 4096;

/** A terminal has no size until the asker tells it. The one byte that it begins with says that this has been done. */
const script = 'stty rows 0 columns 0 2>/dev/null; printf "\\001"; exec "$@"';
const ready = 1;

/** A command beside a task, in a terminal of its own. Needs the package `node-pty`. */
export async function runInTerminal(
  request: ExecRequest,
): Promise<Result<AsyncIterable<CommandOutput>, CommandRefused>> {
  const fault = startFault(request);
  if (fault !== undefined) return err(fault);
  const library = await loadLibrary();
  if (library === undefined) {
    return err(commandRefused('failed', 'This node has no terminals: its package "node-pty" is not installed'));
  }
  const terminal = library.spawn('/bin/sh', ['-c', script, 'signalbox-exec', ...request.command], {
    name: 'xterm',
    cwd: request.directory,
    env: { ...request.environment, TERM: 'xterm' },
    encoding: null,
  });
  return ok(connect(terminal, request));
}

function connect(terminal: IPty, { input, signal }: ExecRequest): Outlet {
  let over = false;
  const outlet = new Outlet(() => {
    if (!over) kill(terminal);
  });
  signal.addEventListener('abort', () => outlet.end(), { once: true });
  let passing = Promise.resolve();
  let isReady: () => void = () => undefined;
  const prepared = new Promise<void>((resolve) => {
    isReady = resolve;
  });
  let begun = false;
  const pass = async (bytes: Buffer): Promise<void> => {
    terminal.pause();
    for (let at = 0; at < bytes.length; at += messageBytes) {
      await outlet.put({ type: 'data', stream: 'stdout', bytes: bytes.subarray(at, at + messageBytes) });
    }
    if (!over) terminal.resume();
  };
  // Without an encoding the library gives bytes, whatever its types say.
  terminal.onData((data: string | Buffer) => {
    const bytes = Buffer.from(data);
    const isFirst = !begun && bytes[0] === ready;
    begun = true;
    isReady();
    passing = passing.then(() => pass(isFirst ? bytes.subarray(1) : bytes));
  });
  terminal.onExit(({ exitCode, signal: by }) => {
    over = true;
    isReady();
    passing
      .then(() => {
        outlet.push({ type: 'closed', stream: 'stdout' });
        outlet.push({ type: 'exited', code: by !== undefined && by > 0 ? 128 + by : exitCode });
      })
      .finally(() => outlet.end())
      .catch(() => undefined);
  });
  prepared.then(() => feed(terminal, input, () => over)).catch(() => outlet.end());
  return outlet;
}

async function feed(terminal: IPty, input: AsyncIterable<CommandInput>, isOver: () => boolean): Promise<void> {
  for await (const message of input) {
    if (isOver()) return;
    if (message.type === 'data') terminal.write(Buffer.from(message.bytes) as unknown as string);
    else if (message.type === 'resize' && message.rows > 0 && message.columns > 0) {
      terminal.resize(message.columns, message.rows);
    }
  }
}

function kill(terminal: IPty): void {
  try {
    process.kill(-terminal.pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

async function loadLibrary(): Promise<typeof import('node-pty') | undefined> {
  try {
    return await import('node-pty');
  } catch {
    return undefined;
  }
}
