import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';

/** Removes a folder of a test, also when what ran in it has taken the rights to its own folders away. Only root needs none. */
export function removeTree(folder: string): void {
  if (process.geteuid?.() !== 0) execFileSync('chmod', ['-R', 'u+rwx', folder]);
  rmSync(folder, { recursive: true, force: true });
}
