import { readdirSync, readFileSync } from 'node:fs';
import { normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOf, type ModuleImport, sourceFiles } from '../support/source-imports.js';

/** Pure rules that the page applies as well; every other part of the repository is behind `signalbox/client`. */
const sharedRules = ['src/jobs/', 'src/shared/', 'src/notifications/'];

/** What makes markup of strings. Data is text: it becomes text nodes and attributes. */
const markup = /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\s*\.\s*write/;

const files = sourceFiles(['web']);
const imports = files.flatMap(importsOf);

/** Why an import of the page is refused; undefined for an allowed one. */
function faultOf({ specifier, target, file }: Pick<ModuleImport, 'specifier' | 'target' | 'file'>): string | undefined {
  if (target !== undefined) {
    const path = normalize(target);
    return path.startsWith('web/') || sharedRules.some((rule) => path.startsWith(rule)) ? undefined : 'not of the page';
  }
  if (specifier === 'signalbox/client') return undefined;
  if (specifier.startsWith('signalbox') || specifier.startsWith('/')) return 'not the client';
  return specifier.startsWith('node:') && file !== 'web/vite.config.ts'
    ? 'browsers have no modules of Node'
    : undefined;
}

describe('the web page', () => {
  it('uses the client, and the pure rules that are listed', () => {
    expect(imports.map(({ specifier }) => specifier)).toContain('signalbox/client');
    const faults = imports.flatMap((each) => {
      const fault = faultOf(each);
      return fault === undefined ? [] : [`${each.file}:${each.line} imports ${each.specifier}: ${fault}`];
    });
    expect(faults).toEqual([]);
  });

  it.each([
    ['../src/engine.js', 'src/engine.ts'],
    ['../src/client/index.js', 'src/client/index.ts'],
    ['../adapters/compat/index.js', 'adapters/compat/index.ts'],
    ['../test/setup.js', 'test/setup.ts'],
    ['signalbox', undefined],
    ['signalbox/jobs', undefined],
    ['/src/engine.ts', undefined],
    ['node:fs', undefined],
  ])('may not import %s', (specifier, target) => {
    expect(faultOf({ specifier, target, file: 'web/main.tsx' })).toBeDefined();
  });

  it('makes no markup of strings', () => {
    const names = readdirSync('web', { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.(?:tsx?|html)$/.test(name),
    );
    expect(names.length).toBeGreaterThan(2);
    const lines = names.flatMap((name) =>
      readFileSync(`web/${name}`, 'utf8')
        .split('\n')
        .flatMap((line, at) => (markup.test(line) ? [`web/${name}:${at + 1} ${line.trim()}`] : [])),
    );
    expect(lines).toEqual([]);
  });

  it.each([
    'node.innerHTML = name',
    '<p dangerouslySetInnerHTML={{ __html }} />',
    "node['outerHTML']",
    'document.writeln(x)',
  ])('finds %s', (line) => expect(markup.test(line)).toBe(true));

  it('has no script or style within its document, which its policy forbids', () => {
    const document = readFileSync('web/index.html', 'utf8');
    expect(document).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/i);
    const scripts = [...document.matchAll(/<script([^>]*)>([^<]*)<\/script>/g)].map(([, given, content]) => [
      given,
      content,
    ]);
    expect(scripts).toEqual([
      [' type="application/json" id="settings"', '{}'],
      [' type="module" src="./main.tsx"', ''],
    ]);
  });
});
