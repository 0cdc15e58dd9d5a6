import { describe, expect, it } from 'vitest';
import { parsePolicy } from '../../src/access/policy/parse-policy.js';
import { digestInList, parseChecksum } from '../../src/agent/artifact/artifact-plan.js';
import { nextLaunch } from '../../src/jobs/periodic/decide-launch.js';
import { periodicWarnings } from '../../src/jobs/periodic/validate-periodic.js';
import { noDeliveryOptions, readDeliveryOptions } from '../../src/notifications/delivery/delivery-options.js';
import { compileFilter } from '../../src/operations/listing/filters.js';
import { checkConstraint } from '../../src/scheduler/feasibility/constraint-operators.js';
import { parseTree } from '../../src/templates/parse-template.js';
import { parseVersion } from '../../src/versions/version.js';
import { parseVersionConstraint } from '../../src/versions/version-constraint.js';
import { jobFrom } from '../support/jobs.js';

/*
 * Looks for texts that take long in the rules that read what users write: filters, cron expressions, constraints, versions, policies, templates. Texts are
 * made of repeated pieces and grow where time grows. `SIGNALBOX_RULES_SECONDS=600 SIGNALBOX_RULES_SEED=7` searches for ten minutes;
 * a shared machine gets three times the aim of 250 ms before a test fails.
 */
const seconds = Number(process.env['SIGNALBOX_RULES_SECONDS'] ?? 0.1);
const seed = Number(process.env['SIGNALBOX_RULES_SEED'] ?? 1);
const BOUND = 750;

/** Characters of a text: more than any of the rules takes. */
const LONGEST = 100_000;

interface Target {
  readonly name: string;
  readonly pieces: readonly string[];
  readonly run: (text: string) => unknown;
}

const job = jobFrom({
  ID: 'web',
  Meta: Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`key-${at}`, 'a'.repeat(200)])),
});
const found = (value: string): { value: string; found: boolean } => ({ value, found: true });
const patterns = [
  'a',
  '.',
  '*',
  '+',
  '?',
  '(',
  ')',
  '|',
  '[',
  ']',
  '[^',
  '{9}',
  '{1000}',
  '{2,30}',
  '\\pL',
  '\\d',
  '^',
  '$',
  '(?i)',
  '\\x41',
  '[[:alpha:]]',
];
const crons = [
  '*',
  '?',
  '1',
  '59',
  '-',
  '/',
  ',',
  ' ',
  'L',
  'W',
  '#',
  'mon',
  'sun',
  'dec',
  '@daily',
  '*/7 ',
  '0 0 30 2 ',
  '1970-2099',
  ' 2099',
  '2/59',
];

const targets: readonly Target[] = [
  {
    name: 'filter',
    pieces: [
      ...[
        'a',
        ' ',
        '(',
        ')',
        'not ',
        ' and ',
        ' or ',
        ' == ',
        '1',
        '"',
        '`',
        '\\',
        '.',
        '[',
        ']',
        '{',
        '}',
        '/',
        '~',
        'any ',
        ' as ',
      ],
      ...[
        'Meta',
        'any Meta as k, v { ',
        ' } ',
        'v == "x"',
        'ID == "x"',
        ' or v matches "',
        'a{99}',
        'é',
        '😀',
        'TaskGroups.0',
        '\n',
      ],
    ],
    run: (text) => compileFilter.job(text).map((filter) => filter.matches(job)),
  },
  {
    name: 'a pattern in a filter',
    pieces: patterns,
    run: (text) => compileFilter.job(`any Meta as _, v { v matches \`${text}\` }`).map((filter) => filter.matches(job)),
  },
  {
    name: 'a pattern in a constraint',
    pieces: patterns,
    run: (text) => checkConstraint('regexp', found('ab1'.repeat(1_000)), found(text)),
  },
  {
    name: 'a matched text',
    pieces: ['a', 'b', 'é', ' ', '1'],
    run: (text) => checkConstraint('regexp', found(text), found('(a|b|ab)*c$')),
  },
  {
    name: 'versions',
    pieces: ['1', '0', '.', '-', '+', 'v', 'rc', 'a', '~', '9'.repeat(19), ' '],
    run: (text) => [
      parseVersion(text, 'loose'),
      parseVersion(text, 'semver'),
      checkConstraint('version', found(text), found('>= 1')),
    ],
  },
  {
    name: 'version constraints',
    pieces: ['1', '.', '-', '+', '>=', '<', '~>', '!=', ',', ' ', 'rc', '1.2.3, '],
    run: (text) => [parseVersionConstraint(text, 'loose'), checkConstraint('semver', found('1.2.3'), found(text))],
  },
  {
    name: 'sets',
    pieces: ['a', ',', ' ', '\u00a0', 'b,'],
    run: (text) => checkConstraint('set_contains', found(text), found(text)),
  },
  {
    name: 'orderings',
    pieces: ['1', '_', '.', 'e', '0x', 'f', 'p', '-', '9', 'inf', 'nan'],
    run: (text) => checkConstraint('<', found(text), found(`${text}1`)),
  },
  {
    name: 'cron',
    pieces: crons,
    run: (text) => nextLaunch({ Spec: text, Specs: null, SpecType: 'cron', TimeZone: 'Europe/Berlin' }, 1.7e12),
  },
  {
    name: 'cron, with warnings',
    pieces: crons,
    run: (text) =>
      periodicWarnings({ Spec: '', Specs: [text, '@hourly'], SpecType: 'cron', TimeZone: 'America/New_York' }, 1.7e12),
  },
  {
    name: 'time zones',
    pieces: ['A', 'a', '/', '_', '-', 'GMT', '/GMT', '+1', 'Europe', 'Europe/'],
    run: (text) => nextLaunch({ Spec: '@daily', Specs: null, SpecType: 'cron', TimeZone: text }, 1.7e12),
  },
  {
    name: 'event types of a destination',
    pieces: ['a', '_', '.', ':', '-', '*', '!', 'order.'],
    run: (text) => readDeliveryOptions({ eventTypes: [text] }, noDeliveryOptions),
  },
  {
    name: 'lists of checksums',
    pieces: ['a', '0', ' ', '*', '\n', '\u2028', 'SHA256 (', ')', ' = ', 'f.tar'],
    run: (text) => [digestInList(text, 'f.tar'), parseChecksum(text, 'f.tar')],
  },
  {
    name: 'rules of policies',
    pieces: [
      'namespace "a" {',
      '}',
      '[',
      ']',
      '"',
      '\\',
      '#',
      '//',
      '/*',
      '*/',
      '\n',
      ' ',
      'policy = "read"',
      '<<A\n',
      '{',
      ',',
      '=',
    ],
    run: (text) => parsePolicy(text),
  },
  {
    name: 'templates',
    pieces: [
      '{{',
      '}}',
      '{{ if 1 }}',
      '{{ end }}',
      '(',
      ')',
      '|',
      '"',
      '`',
      '\\',
      '.a',
      '$a',
      '1_',
      '/*',
      '*/',
      '- ',
      ' -',
      '\n',
    ],
    run: (text) => parseTree(text),
  },
];

/** Pieces, each with how often it is repeated. */
type Genome = readonly (readonly [piece: string, times: number])[];

describe('texts that cost much', () => {
  it.each(targets)(
    '$name',
    ({ name, pieces, run }) => {
      const random = randomFrom(seed);
      const pick = (): string => pieces[Math.floor(random() * pieces.length)] ?? '';
      const costOf = (genome: Genome): number => {
        const text = textOf(genome);
        const { user, system } = process.cpuUsage();
        run(text);
        const used = process.cpuUsage({ user, system });
        return (used.user + used.system) / 1000;
      };
      let present: Genome = [[pick(), 1]];
      let [cost, worst] = [0, { text: '', cost: 0 }];
      for (let warming = 0; warming < 100; warming += 1) costOf([[pick(), 1 + Math.floor(random() * 50)]]);
      for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
        const next = mutated(present, random, pick);
        const nextCost = costOf(next);
        // A disturbance of the machine is forgotten.
        cost *= 0.99;
        if (nextCost >= cost) [present, cost] = [next, nextCost];
        if (nextCost > worst.cost) worst = { text: textOf(next), cost: nextCost };
      }
      if (seconds > 5)
        console.log(`${name}: ${worst.cost.toFixed(1)} ms, ${worst.text.length} × ${worst.text.slice(0, 80)}`);
      expect({ text: worst.text.slice(0, 300), tooSlow: worst.cost > BOUND }).toMatchObject({ tooSlow: false });
    },
    (seconds + 60) * 1000,
  );
});

function mutated(genome: Genome, random: () => number, pick: () => string): Genome {
  const at = Math.floor(random() * genome.length);
  const [piece = '', times = 1] = genome[at] ?? [];
  const changed = [
    () => genome.with(at, [piece, Math.min(LONGEST, times * 2)] as const),
    () => genome.with(at, [piece, Math.max(1, Math.floor(times / 2))] as const),
    () => genome.with(at, [piece + pick(), times] as const),
    () => genome.with(at, [pick(), times] as const),
    () => [...genome.slice(0, at), [pick(), 1] as const, ...genome.slice(at)],
    () => (genome.length > 1 ? genome.filter((_, index) => index !== at) : genome),
  ];
  return changed[Math.floor(random() * changed.length)]?.() ?? genome;
}

function textOf(genome: Genome): string {
  let text = '';
  for (const [piece, times] of genome) {
    text += piece.repeat(Math.max(0, Math.min(times, Math.ceil((LONGEST - text.length) / Math.max(1, piece.length)))));
  }
  return text.slice(0, LONGEST);
}

/** Numbers from 0 to 1, the same for the same seed. */
function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
