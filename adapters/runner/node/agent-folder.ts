import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownScope } from '../disk/process-identity.js';
import { messageOf } from '../disk/text-file.js';

/** The identity of an agent's folder, which a copy of the folder does not share. */
export interface AgentFolder {
  /** Sent to the server; different in a copy of the folder. */
  readonly secret: string;
  /** The boot ID of the host; empty if unknown. */
  readonly boot: string;
  /**
   * `new`: no agent has used this folder, or it is a copy. `restarted`: the host was rebooted since the last agent, so no process of it
   * is left. `continued`: processes of the last agent may be running.
   */
  readonly past: 'new' | 'restarted' | 'continued';
}

interface FolderNote {
  readonly secret: string;
  /** The file of the node's ID on the disk: in a copy it is another file. */
  readonly place: string;
  readonly boot: string;
}

/**
 * Reads and renews the identity of a folder that this process has locked and that has the ID of its node. A copy gets a new secret,
 * as does a folder that was restored from a backup. Throws if the disk fails.
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

/** The inode number and creation time of the file, which a copy does not keep. */
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

export interface NodeIdentity {
  readonly id: string;
  /** The reason why the directory cannot be used with this identity. */
  readonly fault?: string;
}

/** The node's ID, the same at every start with the same directory: the requested one or a generated one. */
export function persistentNodeId(directory: string, asked: string | undefined, make: () => string): NodeIdentity {
  try {
    return nodeIdIn(directory, asked, make);
  } catch (error) {
    return { id: asked ?? make(), fault: `the directory ${directory} cannot be used: ${messageOf(error)}` };
  }
}

function nodeIdIn(directory: string, asked: string | undefined, make: () => string): NodeIdentity {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, 'node-id');
  const known = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (/^[0-9a-f-]{36}$/.test(known)) {
    if (asked === undefined || asked === known) return { id: known };
    return {
      id: asked,
      fault: `the directory ${directory} belongs to another node, ${known}: use its ID or another directory`,
    };
  }
  const id = asked ?? make();
  writeFileSync(`${file}.new`, `${id}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return { id };
}
