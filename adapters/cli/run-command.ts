import { keyUsage, newKeyCommand } from './encryption-keys.js';
import { jobCommand, jobUsage, parseCommand } from './job-commands.js';
import { serveUsage } from './serve-options.js';
import { Stopped } from './stopped.js';
import type { Terminal } from './terminal.js';

const usage = `usage: signalbox COMMAND

${serveUsage}
${jobUsage}
${keyUsage}`;

/** Runs one command line and gives the exit code: 0 done, 1 failed, 2 misused. */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(args, terminal);
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    terminal.error(`signalbox: ${error.message}\n`);
    return error.exitCode;
  }
}

async function dispatch(args: readonly string[], terminal: Terminal): Promise<number> {
  const [command, ...rest] = args;
  if (command === undefined || command === 'help' || args.includes('--help') || args.includes('-h')) {
    terminal.out(usage);
    return command === undefined ? 2 : 0;
  }
  if (command === 'serve') return serveUntilSignal(rest, terminal);
  if (command === 'parse') return parseCommand(rest, terminal);
  if (command === 'new-key') return newKeyCommand(rest, terminal);
  if (command === 'job') return jobCommand(rest, terminal);
  throw new Stopped(`there is no command "${command.slice(0, 40)}"\n\n${usage}`, 2);
}

/** Serves until SIGTERM or SIGINT, then drains; a second signal, either of them, ends the process at once. */
async function serveUntilSignal(args: readonly string[], terminal: Terminal): Promise<number> {
  const signalled = firstSignal();
  // The other commands need neither a store nor a server.
  const { serve } = await import('./serve.js');
  const running = await serve(args, terminal);
  await signalled;
  await running.stop();
  return 0;
}

/** Resolves at the first signal and lets go of both, so that the next one does what it does to any other process. */
function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    const signalled = (): void => {
      process.off('SIGTERM', signalled).off('SIGINT', signalled);
      resolve();
    };
    process.on('SIGTERM', signalled).on('SIGINT', signalled);
  });
}
