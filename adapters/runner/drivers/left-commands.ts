import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identityOf, isAlive } from '../disk/process-identity.js';

/*
 * A command in a task's environment ends when its caller disconnects. A killed runner cannot end it: the next runner does, by notes
 * that name the first process of each running command.
 */

/** Records a started command. Call the returned function at its end. */
export function noteCommand(attempt: string, pid: number): () => void {
  const file = join(commandsOf(attempt), String(pid));
  try {
    mkdirSync(commandsOf(attempt), { recursive: true });
    writeFileSync(file, JSON.stringify(identityOf(pid)), { mode: 0o600 });
  } catch {
    // On a full disk the command runs without a note.
  }
  return () => rmSync(file, { force: true });
}

/** Ends the commands of an attempt that an earlier runner left behind, each with its process group. */
export function endLeftCommands(attempt: string): void {
  for (const name of namesIn(commandsOf(attempt))) {
    const file = join(commandsOf(attempt), name);
    try {
      const { pid, startTime } = JSON.parse(readFileSync(file, 'utf8')) as Partial<ReturnType<typeof identityOf>>;
      // Without the start time, the number may belong to another process by now.
      if (
        typeof pid === 'number' &&
        pid > 1 &&
        typeof startTime === 'string' &&
        startTime !== '' &&
        isAlive({ pid, startTime })
      )
        process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile, or its note is incomplete.
    }
    rmSync(file, { force: true });
  }
}

function commandsOf(attempt: string): string {
  return join(attempt, 'commands');
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
