import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';

/** Removes a folder of a test, even if a task has removed the permissions of its folders, which do not apply to root. */
export function removeTree(folder: string): void {
  if (process.geteuid?.() !== 0) execFileSync('chmod', ['-R', 'u+rwx', folder]);
  rmSync(folder, { recursive: true, force: true });
}
