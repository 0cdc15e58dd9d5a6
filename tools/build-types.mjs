// Declarations for both module systems: the compiler writes `.d.ts`, and each gets a `.d.cts` twin whose imports name twins.
// Compilers before TypeScript 5.7 know no parameter of `Uint8Array`, whose default is the one that is left out.
// The code of neverthrow is part of the built files, so its declarations are too: whoever installs the package needs no copy.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';

const out = 'dist/types';
const carried = 'vendor/neverthrow';
const { resolve } = createRequire(import.meta.url);
const compiler = resolve('typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

const declarations = readdirSync(out, { recursive: true }).filter((name) => name.endsWith('.d.ts'));
for (const name of declarations) {
  const path = relative(dirname(name), carried);
  const text = readFileSync(join(out, name), 'utf8').replace(
    /(['"])neverthrow\1/g,
    `$1${path.startsWith('.') ? path : `./${path}`}.js$1`,
  ).replaceAll('Uint8Array<ArrayBufferLike>', 'Uint8Array');
  writeFileSync(join(out, name), text);
  writeFileSync(join(out, name.replace(/\.d\.ts$/, '.d.cts')), text.replace(/(['"])(\.\.?\/[^'"]+)\.js\1/g, '$1$2.cjs$1'));
}

mkdirSync(join(out, 'vendor'), { recursive: true });
const declared = readFileSync(join(dirname(resolve('neverthrow')), 'index.d.ts'), 'utf8');
// A private member would make the type differ from that of every other copy, whose results work here just as well.
writeFileSync(join(out, `${carried}.d.ts`), declared.replace(/^\s*private _promise;\n/m, ''));
copyFileSync(join(out, `${carried}.d.ts`), join(out, `${carried}.d.cts`));
