// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the language under test has the same template syntax
import type { EagerFunction, HclFunction } from '../../../src/hcl/index.js';
import { hclFunctions } from '../../../src/hcl/index.js';
import type { Random } from './random.js';
import { WORDS } from './units.js';

/** Which reader gets the text; `variables`, `variables-json` and `flag` are read beside a job that declares one variable. */
export const ENTRIES = ['expression', 'job', 'version-1', 'json', 'variables', 'variables-json', 'flag'] as const;
export type Entry = (typeof ENTRIES)[number];

/** A text with holes `«KINDn»`, each to be filled by something that grows. */
export function skeletonFor(entry: Entry, random: Random): string {
  switch (entry) {
    case 'expression':
      return expression(random);
    case 'job':
      if (random.chance(0.15)) return filledIn(random.pick(WHOLE_TEXTS), random);
      if (random.chance(0.3)) return `${filledIn(random.pick(AROUND_JOB), random)}job "a" {\n}\n`;
      return `job "a" {\n${filledIn(random.pick(IN_JOB), random)}\n}\n`;
    case 'version-1':
      return random.chance(0.2)
        ? filledIn(random.pick(WHOLE_TEXTS), random)
        : `job "a" {\n${filledIn(random.pick(IN_JOB), random)}\n}\n`;
    case 'json':
      return random.pick(JSON_JOBS);
    case 'variables':
      return filledIn(random.pick(['x = VALUE0\n', '«raw0»', 'x = "«text0»"\n', 'x = <<E\n«lines0»\nE\n']), random);
    case 'variables-json':
      return random.pick(['{"x":«raw0»}', '{«raw0»}', '{"x":"«text0»"}', '{"x":["«text0»"]}', '{"x":[«items0»1]}']);
    case 'flag':
      return random.pick(['«raw0»', '[«items0»]', '"«text0»"', '[«raw0»]']);
  }
}

const WHOLE_TEXTS = [
  '«raw0»',
  'x = VALUE0\n',
  'x = [«raw0»]\n',
  'x = "«raw0»"\n',
  'x = <<E\n«lines0»\nE\n',
  'x = <<-E\n  «lines0»\nE\n',
  'x {\n«raw0»\n}\n',
  'x "«text0»" {\n}\n',
  '# «raw0»\n',
  '/* «raw0» */\n',
  'x = «raw0»\n«raw1»\n',
];
const IN_JOB = [
  '«raw0»',
  'meta {\n«raw0»\n}',
  'meta = {«entries0»}',
  'group "g" {\n«raw0»\n}',
  'group "g" {\n task "t" {\n config {\n«raw0»\n}\n}\n}',
  'group "g" {\n task "t" {\n config {\n a = VALUE0\n}\n}\n}',
  'group "g" {\n task "t" {\n env {\n«raw0»\n}\n}\n}',
  'group "g" {\n task "t" {\n template {\n data = <<E\n«lines0»\nE\n}\n}\n}',
  'datacenters = VALUE0',
  'region = VALUE0',
  'region = "«raw0»"',
  'constraint {\n attribute = "«text0»"\n}',
  'priority = VALUE0',
  'meta = VALUE0',
  'periodic {\n crons = VALUE0\n}',
  'dynamic "group" {\n for_each = VALUE0\n labels = ["g${group.key}"]\n content {\n«raw1»\n}\n}',
  'dynamic "constraint" {\n for_each = VALUE0\n content {\n value = VALUE1\n}\n}',
  'dynamic "group" {\n for_each = range(1000)\n labels = ["a"]\n content {\n task "t" {\n env {\n A = VALUE0\n}\n}\n}\n}',
  'dynamic "group" {\n for_each = range(300)\n labels = ["a"]\n content {\n dynamic "task" {\n for_each = range(300)\n labels = [task.key]\n content {\n driver = VALUE0\n}\n}\n}\n}',
  'group "g" {\n scaling {\n max = 1\n policy {\n«raw0»\n}\n}\n}',
  'group "«text0»" {\n task "t" {\n}\n}',
  'type = VALUE0',
  'spread {\n attribute = VALUE0\n}',
];
const AROUND_JOB = [
  'variable "x" {\n«raw0»\n}\n',
  'variable "x" {\n default = VALUE0\n}\n',
  'variable "x" {\n type = list(string)\n default = [«items0»]\n}\n',
  'variables {\n«raw0»\n}\n',
  'locals {\n«raw0»\n}\n',
  'locals {\n a = VALUE0\n b = [local.a, local.a]\n c = [local.b, local.b]\n}\n',
  'variable "x" {\n type = «raw0»\n default = null\n}\n',
  'locals {\n a = VALUE0\n b = "${local.a}${local.a}"\n c = "${local.b}${local.b}${local.b}${local.b}"\n d = "${local.c}${local.c}${local.c}${local.c}"\n}\n',
  'variable "x" {\n default = 1\n validation {\n condition = var.x != VALUE0\n error_message = "no"\n}\n}\n',
  'variable "x" {\n type = map(list(string))\n default = VALUE0\n}\n',
];
const JSON_JOBS = [
  '{«raw0»}',
  '{"job":{"a":{«raw0»}}}',
  '{"job":{"a":{"meta":{«raw0»}}}}',
  '{"job":{"a":{"region":"«text0»"}}}',
  '{"job":[«raw0»]}',
  '{"locals":{"a":«raw0»},"job":{"a":{}}}',
  '{"job":{"a":{"group":{"g":{"task":{"t":{"config":{«raw0»}}}}}}}}',
  '{"locals":{"a":"${«raw0»}"},"job":{"a":{}}}',
  '{"job":{"a":{"datacenters":[«items0»1]}}}',
];
const EXPRESSIONS = [
  '«raw0»',
  '[«raw0»]',
  '{«raw0»}',
  '"«raw0»"',
  '<<E\n«lines0»\nE\n',
  '<<-E\n  «lines0»\nE\n',
  '(«raw0»)',
  'VALUE0[VALUE1]',
  'VALUE0[*]«raw1»',
  'VALUE0[*].a',
  'VALUE0 == VALUE1',
  '«digits0» + «digits1»',
  '«digits0» % «digits1»',
  '«digits0» / «digits1»',
  '«digits0» * «digits1»',
  '«digits0» == «digits1»',
  'VALUE0 ? VALUE1 : VALUE2',
  'true ? VALUE0 : VALUE1',
  'VALUE0 < VALUE1',
  'VALUE0.a',
  '[for x in VALUE0: x]',
  '[for x in VALUE0: VALUE1]',
  '{for k, v in VALUE0: k => v}',
  '{for v in VALUE0: v => v...}',
  '{for v in VALUE0: "k${v}" => v}',
  '[for i in range(1000): [for j in range(1000): VALUE0]]',
  '[for x in VALUE0: x if x == VALUE1]',
  '[for i in range(1000): VALUE0 == VALUE0]',
  '[for i in range(1000): VALUE0[*].a]',
  '[for i in range(1000): "${VALUE0}x"]',
  '[for i in range(1000): i / «digits0»]',
  '[for i in range(1000): "${i / «digits0»}"]',
  '"${VALUE0}x"',
  '"%{ for x in VALUE0 }${x}%{ endfor }"',
  '"%{ for x in range(1000) }%{ for y in range(1000) }«lines0»%{ endfor }%{ endfor }"',
  'try(VALUE0, VALUE1)',
  'can(VALUE0)',
  'convert(VALUE0, set(any))',
  'convert(VALUE0, list(string))',
  'convert(VALUE0, map(string))',
  'convert(VALUE0, «raw1»)',
  '[for i in range(1000): try(VALUE0, 1)]',
  '[for i in range(100): VALUE0]',
  '[for i in range(1000): convert(VALUE0, list(any))]',
];

function expression(random: Random): string {
  return random.chance(0.35) ? filledIn(random.pick(EXPRESSIONS), random) : call(random);
}

/** `VALUEn` stands for a value of any kind. */
function filledIn(skeleton: string, random: Random): string {
  return skeleton.replace(/VALUE(\d)/g, (_whole, hole: string) => anyValue(random, Number(hole)));
}

const functions: readonly HclFunction[] = [...hclFunctions.values()];

/** A call of a function with arguments that it takes, sometimes many times, sometimes within another call. */
function call(random: Random): string {
  const written = callOf(random.pick(functions), random, 0);
  const roll = random.next();
  if (roll < 0.65) return written;
  if (roll < 0.85) return `[for i in range(${random.pick([10, 100, 1000])}): ${written}]`;
  const outer = random.pick(functions);
  return outer.kind === 'eager' ? callOf(outer, random, 4, written) : `${outer.name}(${written})`;
}

function callOf(known: HclFunction, random: Random, firstHole: number, given?: string): string {
  if (known.kind === 'lazy') {
    const type = random.pick(['set(any)', 'list(string)', 'map(any)', 'list(list(string))', 'object({a=any})']);
    return known.name === 'convert'
      ? `convert(${anyValue(random, firstHole)}, ${type})`
      : `${known.name}(${anyValue(random, firstHole)})`;
  }
  const variadic = known.variadic === undefined ? 0 : random.below(3);
  const names = [...known.parameters, ...Array.from({ length: variadic }, () => known.variadic)];
  const written = names
    .slice(0, 4)
    .map((parameter, at) => argument(known, parameter?.type.kind ?? 'dynamic', random, firstHole + at));
  if (given !== undefined) written.splice(random.below(written.length), 1, given);
  if (variadic > 0 && random.chance(0.2)) return `${known.name}(${written.join(', ')}, [«items7»]...)`;
  return `${known.name}(${written.join(', ')})`;
}

function argument(known: EagerFunction, type: string, random: Random, hole: number): string {
  if (random.chance(0.05)) return anyValue(random, hole);
  switch (type) {
    case 'string':
      return known.name === 'regex_replace' && hole % 4 === 1 ? pattern(random, hole) : textValue(random, hole);
    case 'number':
      return numberValue(random, hole);
    case 'list':
    case 'set':
      return listValue(random, hole);
    case 'map':
      return `{«entries${hole}»}`;
    default:
      return anyValue(random, hole);
  }
}

function pattern(random: Random, hole: number): string {
  return random.chance(0.5) ? `"«pattern${hole}»"` : `"${random.pick(WORDS)}"`;
}

function anyValue(random: Random, hole: number): string {
  const roll = random.next();
  if (roll < 0.3) return textValue(random, hole);
  if (roll < 0.65) return listValue(random, hole);
  if (roll < 0.75) return numberValue(random, hole);
  if (roll < 0.85) return `{«entries${hole}»}`;
  return random.pick([
    'null',
    'true',
    `«raw${hole}»`,
    `{for i in range(1000): "k\${i}" => "«text${hole}»"}`,
    `{for i in range(1000): "«text${hole}»\${i}" => i}`,
  ]);
}

function textValue(random: Random, hole: number): string {
  return random.pick([
    `"«text${hole}»"`,
    `"«text${hole}»"`,
    `"«text${hole}»"`,
    `<<E\n«lines${hole}»\nE\n`,
    `<<E\n«lines${hole}»\nE\n`,
    `format("%${random.pick([1000, 100000, 500000])}s", "«text${hole}»")`,
    `join("«text${hole}»", range(1000))`,
    `jsonencode([«items${hole}»])`,
    `"${random.pick(WORDS)}"`,
    `"${random.pick(WORDS)}"`,
  ]);
}

function listValue(random: Random, hole: number): string {
  return random.pick([
    `[«items${hole}»]`,
    `[«items${hole}»]`,
    `[«items${hole}»]`,
    `split("", "«text${hole}»")`,
    `split(",", "«text${hole}»")`,
    `[for i in range(1000): "«text${hole}»"]`,
    `[for i in range(1000): "«text${hole}»\${i}"]`,
    `range(${random.pick([2, 10, 100, 1000])})`,
    `setproduct(range(${random.pick([10, 100, 300])}), range(${random.pick([10, 100, 300])}))`,
    `[for i in range(1000): i / «digits${hole}»]`,
    `[for i in range(300): [for j in range(300): "«text${hole}»"]]`,
    `[for i in range(300): {for j in range(i): "k\${j}" => [«items${hole}»]}]`,
    `concat([«items${hole}»], range(1000))`,
  ]);
}

function numberValue(random: Random, hole: number): string {
  return random.pick([
    '0',
    '1',
    '2',
    '10',
    '12',
    '100',
    '1000',
    '1e6',
    '-1',
    '0.5',
    '1/3',
    '1e300',
    `1«digits${hole}»`,
    `0.«digits${hole}»`,
    `1e${random.below(9999)}`,
    `"1«digits${hole}»"`,
  ]);
}
