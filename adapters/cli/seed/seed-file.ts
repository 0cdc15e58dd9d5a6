import { err, ok, type Result } from 'neverthrow';
import { findJsonFault, jsonValueOf } from '../json-fault.js';
import type { SeedFile } from './seed-file-schema.js';

/** The faults of a seed file with their places, one per line. */
interface SeedFileFault {
  readonly type: 'seed_file_fault';
  readonly message: string;
}

/** Parses a seed file. Syntax errors have line and column, other faults a JSON pointer. */
export async function parseSeedFile(text: string, fileName: string): Promise<Result<SeedFile, SeedFileFault>> {
  const fault = findJsonFault(text);
  if (fault !== undefined) {
    return err(seedFault(`${fileName}:${fault.line}:${fault.column}: ${fault.message}`));
  }
  const { seedFileSchema } = await import('./seed-file-schema.js');
  const parsed = seedFileSchema.safeParse(jsonValueOf(text));
  if (parsed.success) return ok(parsed.data);
  return err(
    seedFault(parsed.error.issues.map((issue) => `${fileName}: at ${pointerFrom(issue)}: ${issue.message}`).join('\n')),
  );
}

function seedFault(message: string): SeedFileFault {
  return { type: 'seed_file_fault', message };
}

/** Points to an unknown key itself, not to its object. */
function pointerFrom(issue: { readonly path: readonly PropertyKey[]; readonly keys?: readonly string[] }): string {
  const path = issue.keys?.[0] === undefined ? issue.path : [...issue.path, issue.keys[0]];
  if (path.length === 0) return 'the top level';
  return path.map((part) => '/' + String(part).replaceAll('~', '~0').replaceAll('/', '~1')).join('');
}
