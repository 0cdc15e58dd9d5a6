import { arithmeticFunctions, logicFunctions } from './arithmetic.js';
import { dataFunctions } from './data.js';
import { printFunctions } from './print.js';
import { storeFunctions } from './store.js';
import type { TemplateFunction } from './template-function.js';
import { textFunctions } from './texts.js';

const functions: ReadonlyMap<string, TemplateFunction> = new Map(
  Object.entries({
    ...logicFunctions,
    ...dataFunctions,
    ...printFunctions,
    ...textFunctions,
    ...arithmeticFunctions,
    ...storeFunctions,
  }),
);

export function functionNamed(name: string): TemplateFunction | undefined {
  return functions.get(name);
}

/** The names of all functions, sorted. */
export function functionNames(): readonly string[] {
  return [...functions.keys()].sort();
}

/** Functions of Nomad's templates that are not supported, by what they would require. */
const ELSEWHERE: readonly (readonly [what: string, names: readonly string[]])[] = [
  [
    'it queries a service catalogue, which templates cannot reach here',
    [
      'service',
      'services',
      'connect',
      'node',
      'nodes',
      'datacenters',
      'caRoots',
      'caLeaf',
      'peerings',
      'partitions',
      'nomadService',
      'nomadServices',
    ],
  ],
  [
    'it reads a key-value store that is not part of this server: use nomadVar',
    ['key', 'keyExists', 'keyOrDefault', 'keyExistsGet', 'ls', 'safeLs', 'tree', 'safeTree', 'explode', 'explodeMap'],
  ],
  [
    'it reads a secret store that is not part of this server: use nomadVar',
    ['secret', 'secrets', 'pkiCert', 'writeToFile'],
  ],
  ['it reads files and runs programs of the host', ['file', 'plugin', 'executeTemplate', 'spew_dump']],
  ['its result differs each time', ['timestamp', 'now', 'scratch', 'sockaddr']],
];

/** Why a name is not a function. */
export function refusalOf(name: string): string {
  const [what] = ELSEWHERE.find(([, names]) => names.includes(name)) ?? [];
  return what === undefined ? `there is no function ${name}` : `the function ${name} is not supported: ${what}`;
}
