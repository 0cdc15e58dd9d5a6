// Declarations for both module systems: the compiler writes `.d.ts`, and each gets a `.d.cts` twin whose imports name twins.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const out = 'dist/types';
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
for (const name of readdirSync(out, { recursive: true })) {
  if (!name.endsWith('.d.ts')) continue;
  const text = readFileSync(join(out, name), 'utf8');
  writeFileSync(join(out, name.replace(/\.d\.ts$/, '.d.cts')), text.replace(/(['"])(\.\.?\/[^'"]+)\.js\1/g, '$1$2.cjs$1'));
}
