import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../disk/transient-fault.js';

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
