import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

/* The built page. Sizes are bytes as they are sent, compressed with brotli. */

const folder = 'dist/web';
const firstLoad = 75_000;
const all = 2_500_000;
/** What is loaded only where one writes a source, and where one uses a terminal. */
const parts = [
  { part: 'the editor', packages: /\/node_modules\/@codemirror\//, most: 115_000 },
  { part: 'the terminal', packages: /\/node_modules\/@xterm\//, most: 110_000 },
];
const mostOfTheRest = 150_000;

const names = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
const sources = names.filter((name) => !/\.(?:br|gz)$/.test(name) && name !== 'index.html');
const size = (name: string): number => statSync(join(folder, name)).size;
const read = (name: string): Buffer => readFileSync(join(folder, name));

const contents = Object.entries(
  JSON.parse(readFileSync('tmp/page-contents.json', 'utf8')) as Readonly<Record<string, readonly string[]>>,
);
/** The scripts with modules of these packages, and their style sheets, which have the same name. */
function filesWith(packages: RegExp): readonly string[] {
  const scripts = contents.flatMap(([name, modules]) =>
    modules.some((path) => packages.test(`/${path}`)) ? [name] : [],
  );
  const stems = scripts.map((name) => name.replace(/-[\w-]{8}\.js$/, ''));
  return sources.filter((name) => stems.includes(name.replace(/-[\w-]{8}\.(?:js|css)$/, '')));
}

/** The scripts that a script loads with it. */
function withImports(name: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(name)) return found;
  found.add(name);
  if (!name.endsWith('.js')) return found;
  for (const [, other = ''] of read(name)
    .toString()
    .matchAll(/(?:\bimport|\bfrom)\s*["']\.\/([^"']+)["']/g))
    withImports(`assets/${other}`, found);
  return found;
}

describe('the built page', () => {
  it(`loads at most ${firstLoad} bytes at first`, () => {
    const referred = [
      ...read('index.html')
        .toString()
        .matchAll(/(?:src|href)="\.\/([^"]+)"/g),
    ].map(([, name = '']) => name);
    const loaded = new Set(referred.flatMap((name) => [...withImports(name)]));
    const bytes = [...loaded].reduce((sum, name) => sum + size(`${name}.br`), 0);
    console.log(`the page loads ${bytes} bytes in ${loaded.size} files at first`);
    expect([...loaded].some((name) => name.endsWith('.js'))).toBe(true);
    expect(bytes).toBeLessThanOrEqual(firstLoad);
  });

  it.each(parts)('has at most $most bytes for $part, in a file of its own', ({ part, packages, most }) => {
    const files = filesWith(packages);
    const bytes = files.reduce((sum, name) => sum + size(`${name}.br`), 0);
    console.log(`${part} has ${bytes} bytes`);
    expect(files.length).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(most);
  });

  it(`has at most ${mostOfTheRest} bytes for everything else`, () => {
    const apart = parts.flatMap(({ packages }) => filesWith(packages));
    const bytes = sources.filter((name) => !apart.includes(name)).reduce((sum, name) => sum + size(`${name}.br`), 0);
    console.log(`everything else has ${bytes} bytes`);
    expect(bytes).toBeLessThanOrEqual(mostOfTheRest);
  });

  it(`has at most ${all} bytes, with all its compressed forms`, () => {
    const bytes = names.reduce((sum, name) => sum + size(name), 0);
    console.log(`the page has ${bytes} bytes in ${names.length} files`);
    expect(bytes).toBeLessThanOrEqual(all);
  });

  it('has the hash of its content in the name of each file, and compressed forms of the same content', () => {
    expect(sources.filter((name) => !/^assets\/[\w.-]+-[\w-]{8}\.[a-z\d]+$/.test(name))).toEqual([]);
    for (const name of sources) {
      expect(brotliDecompressSync(read(`${name}.br`)).equals(read(name)), name).toBe(true);
      expect(gunzipSync(read(`${name}.gz`)).equals(read(name)), name).toBe(true);
    }
    expect(names.length).toBe(3 * sources.length + 1);
  });

  it('asks no other host for anything, and names no source map', () => {
    for (const name of ['index.html', ...sources.filter((name) => name.endsWith('.css'))])
      expect(read(name).toString(), name).not.toMatch(
        /(?:src|href)="(?:https?:)?\/\/|url\(["']?(?:https?:)?\/\/|@import/,
      );
    for (const name of sources) expect(read(name).includes('sourceMappingURL'), name).toBe(false);
  });
});

it('the packages in the built files are in the notices', () => {
  const files = ['tmp/contents.json', 'tmp/page-contents.json'];
  const modules = files.flatMap((file) =>
    Object.values(JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, readonly string[]>>).flat(),
  );
  const packages = new Set(
    modules.flatMap((path) => /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
  );
  const noted = readFileSync('THIRD-PARTY-NOTICES.md', 'utf8').matchAll(/^## (.+)$/gm);
  const names = new Set([...noted].flatMap(([, names = '']) => names.split(', ')));
  expect(packages.size).toBeGreaterThan(1);
  expect([...packages].filter((name) => !names.has(name))).toEqual([]);
});
