import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { importsOf, type ModuleImport, sourceFiles } from '../support/source-imports.js';

/** Capabilities that decide: they never wait, and know nothing of ports. */
const pure = [
  'shared',
  'options',
  'versions',
  'storage',
  'notifications',
  'jobs',
  'scheduler',
  'agent',
  'services',
  'hcl',
  'filter',
  'json-schema',
  'templates',
  'events',
  'queries',
  'access',
  'variables',
  'metrics',
  'functions',
  'queue',
];
/** What each may import of the others. */
const mayUse: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  options: ['shared', 'hcl'],
  versions: ['shared'],
  storage: ['shared', 'ports'],
  hcl: ['shared'],
  notifications: ['shared', 'filter', 'json-schema', 'queue'],
  jobs: ['shared', 'hcl', 'versions', 'templates'],
  access: ['shared', 'hcl', 'options'],
  variables: ['shared'],
  scheduler: ['shared', 'jobs', 'versions'],
  agent: ['shared', 'options', 'jobs', 'scheduler', 'templates'],
  services: ['shared', 'jobs', 'scheduler', 'agent'],
  filter: ['shared'],
  'json-schema': ['shared'],
  templates: ['shared'],
  events: ['shared', 'access', 'jobs', 'scheduler', 'services'],
  queries: ['shared', 'filter', 'jobs'],
  metrics: [],
  queue: ['shared'],
  functions: ['shared', 'options', 'jobs', 'queue', 'scheduler', 'agent'],
};
const core = [...pure, 'ports', 'operations', 'api', 'client', 'channels'];
/** What the storage adapters have in common: views, batches, waiting. */
const storageKit = 'storage-kit';
/** What a host imports, too: the main entry and those of the subpaths. */
const frontDoors = [
  'src/index.ts',
  'src/client/index.ts',
  'src/hcl/index.ts',
  'src/jobs/index.ts',
  'src/ports/index.ts',
  'src/scheduler/index.ts',
  'src/receiver.ts',
  'src/functions.ts',
  'src/operations/functions/call-function.ts',
];

const driven = [storageKit, 'memory', 'sqlite', 'postgres', 'undici', 'smtp', 'node', 'prometheus', 'opentelemetry'];
/** What everybody may use: of no area, and imports nothing. */
const values = 'src/shared/values.ts';
/** Adapters that put others together. */
const composing = ['cli', 'testing', 'compat'];
/** What every area of the operations may use. */
const commonOperations = [
  'context',
  'waiting',
  'listing',
  'records',
  'reactions',
  'node-commands',
  'queue',
  'operation.ts',
  'commit.ts',
  'events.ts',
  'write-transaction.ts',
];
/** Functions and runs are jobs and allocations, too: operations on those leave to the functions what concerns them. */
const mayAlsoUse: Readonly<Record<string, readonly string[]>> = {
  jobs: ['functions'],
  allocations: ['functions'],
  periodic: ['functions'],
};
/** Packages that functions of the configuration language load on their first use. */
const lazyPackages = ['re2js', 'yaml', 'bcryptjs'];
const packagesOf: Readonly<Record<string, readonly string[]>> = {
  memory: [],
  [storageKit]: [],
  sqlite: ['better-sqlite3'],
  postgres: ['pg'],
  undici: ['undici', 'ipaddr.js'],
  smtp: ['nodemailer'],
  node: [],
  'http-server': ['ws'],
  compat: [],
  runner: ['node-pty', 'tar-stream', 'ws', 'yauzl'],
  cli: ['zod'],
  testing: [],
  functions: [],
  prometheus: [],
  opentelemetry: ['@opentelemetry/api'],
};

const files = sourceFiles(['src', 'adapters']);
const all: readonly ModuleImport[] = files.flatMap(importsOf);

function violations(rule: (item: ModuleImport) => string | undefined): string[] {
  return all.flatMap((item) => {
    const reason = rule(item);
    return reason === undefined ? [] : [`${item.file}:${item.line} imports ${item.specifier}: ${reason}`];
  });
}

const areaOf = (path: string): string => path.split('/')[1] ?? '';
const isPackage = (item: ModuleImport): boolean => item.target === undefined && !item.specifier.startsWith('node:');

describe('who may import whom', () => {
  it('finds the sources', () => {
    expect(files.length).toBeGreaterThan(100);
  });

  it('has only known folders in src', () => {
    const areas = new Set(files.filter((file) => file.startsWith('src/') && file.split('/').length > 2).map(areaOf));
    expect([...areas].filter((area) => !core.includes(area))).toEqual([]);
  });

  it('keeps the closed list of shared modules', () => {
    expect(files.filter((file) => file.startsWith('src/shared/')).length).toBeLessThanOrEqual(10);
  });

  it('lets pure folders use each other only as agreed', () => {
    expect(
      violations(({ file, target }) => {
        const from = areaOf(file);
        if (!file.startsWith('src/') || !pure.includes(from) || target === undefined) return undefined;
        const to = areaOf(target);
        return to === from || mayUse[from]?.includes(to)
          ? undefined
          : `${from} may use ${mayUse[from]?.join(', ') || 'nothing else'}`;
      }),
    ).toEqual([]);
  });

  it('lets the core use few packages, each in its folder', () => {
    expect(
      violations((item) => {
        if (!item.file.startsWith('src/') || item.target !== undefined) return undefined;
        const { file, specifier } = item;
        if (specifier === 'neverthrow') return undefined;
        if (lazyPackages.includes(specifier) && file.startsWith('src/hcl/functions/')) return undefined;
        if (file === 'src/shared/regular-expression.ts' && ['re2js', 'node:module'].includes(specifier))
          return undefined;
        if (specifier === 'node:crypto' && hashing.includes(file)) return undefined;
        if (specifier === 'node:module' && file.startsWith('src/hcl/functions/')) return undefined;
        if (specifier === 'node:crypto' && file.startsWith('src/operations/access/')) return undefined;
        return 'not among the packages of the core';
      }),
    ).toEqual([]);
  });

  it('keeps ports to types of the pure folders', () => {
    expect(
      violations(({ file, target, typeOnly }) => {
        if (!file.startsWith('src/ports/')) return undefined;
        if (!typeOnly) return 'ports are types only';
        return target === undefined || [...pure, 'ports'].includes(areaOf(target)) ? undefined : 'not a pure folder';
      }),
    ).toEqual([]);
  });

  it('keeps the areas of operations apart', () => {
    expect(
      violations(({ file, target, typeOnly }) => {
        if (!file.startsWith('src/operations/') || !target?.startsWith('src/')) return undefined;
        if (!target.startsWith('src/operations/')) {
          return [...pure, 'ports', 'channels', ...(typeOnly ? ['api'] : [])].includes(areaOf(target)) ||
            ['src/settings.ts', 'src/tables.ts'].includes(target)
            ? undefined
            : 'operations use pure folders and ports';
        }
        const area = (path: string): string => path.split('/')[2] ?? '';
        const allowed = [area(file), ...commonOperations, ...(mayAlsoUse[area(file)] ?? [])];
        return allowed.includes(area(target)) ? undefined : 'another area';
      }),
    ).toEqual([]);
  });

  it('keeps channels to types of ports, of sockets and of commands', () => {
    expect(
      violations(({ file, target, typeOnly }) => {
        if (!file.startsWith('src/channels/')) return undefined;
        if (target !== undefined && areaOf(target) === 'channels') return undefined;
        if (target === values) return undefined;
        const isMeant = ['src/api/message-socket.ts', 'src/ports/clock.ts', 'src/agent/link/node-command.ts'].includes(
          target ?? '',
        );
        return typeOnly && isMeant ? undefined : 'not what a channel stands on';
      }),
    ).toEqual([]);
  });

  it('keeps the interface and the client to what a browser can have', () => {
    expect(
      violations(({ file, target, typeOnly }) => {
        const from = areaOf(file);
        if (!file.startsWith('src/') || (from !== 'api' && from !== 'client') || target === undefined) return undefined;
        const to = areaOf(target);
        if (to === from || to === 'shared' || to === 'options' || (from === 'client' && to === 'api')) return undefined;
        return typeOnly && [...pure, 'ports', 'operations'].includes(to)
          ? undefined
          : 'not the interface, and not a type of the core';
      }),
    ).toEqual([]);
  });

  it('lets driven adapters see ports and pure folders, and no other adapter', () => {
    expect(
      violations(({ file, target }) => {
        const adapter = areaOf(file);
        if (!file.startsWith('adapters/') || !driven.includes(adapter) || target === undefined) return undefined;
        if (target.startsWith('adapters/')) {
          const allowed = areaOf(target) === adapter || target === `adapters/${storageKit}/index.ts`;
          return allowed ? undefined : 'another adapter';
        }
        return [...pure, 'ports'].includes(areaOf(target)) ? undefined : 'not a port or a pure folder';
      }),
    ).toEqual([]);
  });

  it('lets driving adapters see the front door only, and the runner what a node decides by', () => {
    expect(
      violations(({ file, target }) => {
        const adapter = areaOf(file);
        if (!file.startsWith('adapters/') || driven.includes(adapter) || target === undefined) return undefined;
        if (frontDoors.includes(target) || target === values || ['api', 'options'].includes(areaOf(target)))
          return undefined;
        if (target.startsWith('adapters/') && areaOf(target) === adapter) return undefined;
        if (adapter === 'runner' && [...pure, 'ports', 'channels'].includes(areaOf(target))) return undefined;
        return composing.includes(adapter) && target.startsWith('adapters/') ? undefined : 'not the front door';
      }),
    ).toEqual([]);
  });

  it('gives each adapter its own technology only', () => {
    expect(
      violations((item) => {
        const adapter = areaOf(item.file);
        if (!item.file.startsWith('adapters/') || !isPackage(item) || item.specifier === 'neverthrow') return undefined;
        if (item.specifier === 'zod' && item.file.endsWith('-schema.ts')) return undefined;
        return packagesOf[adapter]?.includes(item.specifier) ? undefined : `not a package of ${adapter}`;
      }),
    ).toEqual([]);
  });

  it('never lets the product see the tests', () => {
    expect(violations(({ target }) => (target?.startsWith('test/') ? 'a test' : undefined))).toEqual([]);
  });
});

/** Hashing is a pure function; these are the modules that do it. */
const hashing = ['src/notifications/signature.ts', 'src/hcl/functions/hashing.ts'];

describe('pure folders', () => {
  it('neither wait nor look outside', () => {
    const forbidden =
      /\bawait\b|\basync\b|Date\.now\(|new Date\(\)|Math\.random\(|process\.(env|argv|cwd)|setTimeout\(/;
    const offenders = files
      .filter((file) => file.startsWith('src/') && pure.includes(areaOf(file)))
      .flatMap((file) =>
        readFileSync(file, 'utf8')
          .split('\n')
          .flatMap((line, at) => (forbidden.test(withoutComment(line)) ? [`${file}:${at + 1} ${line.trim()}`] : [])),
      );
    expect(offenders).toEqual([]);
  });

  it('form no cycle of modules', () => {
    expect(cycles(all)).toEqual([]);
  });
});

function withoutComment(line: string): string {
  return line
    .replace(/\/\/.*$/, '')
    .replace(/^\s*\*.*$/, '')
    .replace(/\/\*.*?\*\//g, '')
    .replace(/'[^']*'|`[^`]*`/g, '');
}

/** Each cycle once, as the path that closes it; imports of types count too. */
function cycles(imports: readonly ModuleImport[]): string[] {
  const edges = new Map<string, string[]>();
  for (const { file, target } of imports) {
    if (target !== undefined) edges.set(file, [...(edges.get(file) ?? []), target]);
  }
  const found: string[] = [];
  const state = new Map<string, 'open' | 'done'>();
  const visit = (file: string, path: readonly string[]): void => {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      found.push([...path.slice(path.indexOf(file)), file].join(' → '));
      return;
    }
    state.set(file, 'open');
    for (const next of edges.get(file) ?? []) visit(next, [...path, file]);
    state.set(file, 'done');
  };
  for (const file of edges.keys()) visit(file, []);
  return found;
}
