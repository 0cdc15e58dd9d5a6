import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownScope } from '../disk/process-identity.js';

/** What the processes of one folder have in common, unlike those of a copy of it. */
export interface AgentFolder {
  /** Goes to the server; different in a copy of the folder. */
  readonly secret: string;
  /** The start of the host; empty where it cannot be determined. */
  readonly boot: string;
  /**
   * `new`: no agent has had this folder, or it is a copy. `restarted`: the host was started since the last agent, so that no process of it
   * is left. `continued`: processes of the last agent may be there.
   */
  readonly past: 'new' | 'restarted' | 'continued';
}

interface FolderNote {
  readonly secret: string;
  /** Where the note of the node's ID is on the disk: a copy is somewhere else. */
  readonly place: string;
  readonly boot: string;
}

/**
 * Reads and renews the note of a folder that this process holds and that has the ID of its node. A copy gets a separate secret; so does a
 * folder that was restored from a backup. Throws when the disk fails.
 */
export function agentFolder(directory: string): AgentFolder {
  const file = join(directory, 'agent');
  const place = placeOf(join(directory, 'node-id'));
  const { boot } = ownScope();
  const before = readNote(file);
  const isCopy = before?.place !== place;
  const secret = before === undefined || isCopy ? randomBytes(32).toString('hex') : before.secret;
  if (isCopy || before.boot !== boot) {
    writeFileSync(`${file}.new`, JSON.stringify({ secret, place, boot } satisfies FolderNote), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
  const past = before === undefined || isCopy ? 'new' : before.boot === boot ? 'continued' : 'restarted';
  return { secret, boot, past };
}

/** The number of the file on its disk and the time of its creation, which no copy keeps. */
function placeOf(file: string): string {
  const { ino, birthtimeNs } = statSync(file, { bigint: true });
  return createHash('sha256').update(`${ino} ${birthtimeNs}`).digest('hex');
}

function readNote(file: string): FolderNote | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const note = JSON.parse(readFileSync(file, 'utf8')) as Partial<FolderNote> | null;
    const { secret, place, boot } = note ?? {};
    return typeof secret === 'string' && typeof place === 'string' && typeof boot === 'string'
      ? { secret, place, boot }
      : undefined;
  } catch {
    return undefined;
  }
}
