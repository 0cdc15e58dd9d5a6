// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the language under test has the same template syntax
import { describe, expect, test } from 'vitest';
import type { BodySchema, DecodedBody, DecodeOptions, Diagnostic, PlainValue } from '../../../src/hcl/index.js';
import { createBudget, decodeFile, renderDiagnostics } from '../../../src/hcl/index.js';
import { processorTimeOf } from '../../support/processor-time.js';

const taskSchema: BodySchema = {
  attributes: {
    driver: { is: 'string' },
    leader: { is: 'bool' },
    user: { is: 'string' },
    kill_timeout: { is: 'duration', nullable: true },
    env: { is: 'stringMap', nullable: true },
    share: { is: { integer: [0, 255] } },
  },
  blocks: {
    config: { times: 'once', body: 'freeForm' },
    env: { times: 'once', body: { otherAttributes: { is: 'string' } } },
    port: { times: 'many', labels: ['label'], body: { attributes: { to: { is: 'integer' } } } },
    template: { times: 'many', body: { attributes: { data: { is: 'string', required: true } } } },
  },
};
const groupSchema: BodySchema = {
  attributes: { count: { is: 'integer', nullable: true } },
  blocks: { task: { times: 'many', labels: ['name'], body: taskSchema } },
};
const jobSchema: BodySchema = {
  attributes: {
    region: { is: 'string', nullable: true },
    priority: { is: 'integer', nullable: true },
    datacenters: { is: 'stringList', nullable: true },
    all_at_once: { is: 'bool', nullable: true },
  },
  blocks: {
    group: { times: 'many', labels: ['name'], body: groupSchema },
    meta: { times: 'once', body: { otherAttributes: { is: 'string' } } },
  },
};
const schema: BodySchema = { blocks: { job: { times: 'once', required: true, labels: ['name'], body: jobSchema } } };

type Options = Partial<Omit<DecodeOptions<PlainValue>, 'schema' | 'interpret'>>;

function decode(source: string, options: Options = {}) {
  const ids = { next: () => '00000000-0000-4000-8000-000000000001' };
  return decodeFile<PlainValue>(source, { ids, ...options, schema, interpret: (body) => plain(body) });
}

function value(source: string, options: Options = {}): PlainValue {
  const result = decode(source, options);
  if (result.isErr()) throw new Error(renderDiagnostics(result.error));
  const jobs = (result.value.value as Record<string, PlainValue>)['job'];
  return (jobs as readonly PlainValue[])[0] ?? null;
}

/** Starts of all problems, as `line:column code`. */
function problems(source: string, options: Options = {}): string[] {
  const result = decode(source, options);
  return result.isOk() ? [] : result.error.map(positionOf);
}

function positionOf({ file, start, code }: Diagnostic): string {
  return `${file === 'job' ? '' : `${file} `}${start.line}:${start.column} ${code}`;
}

function plain(body: DecodedBody): PlainValue {
  const entries: [string, PlainValue][] = [...body.attributes.values()].map((each) => [each.name, each.value]);
  for (const [type, blocks] of body.blocks) {
    entries.push([
      type,
      blocks.map((block) => {
        const labels = block.labels.map(({ text }) => text);
        const content = (block.data ?? plain(block.body)) as Record<string, PlainValue>;
        return { ...(labels.length === 0 ? {} : { labels }), ...content };
      }),
    ]);
  }
  return Object.fromEntries(entries);
}

const task = (inner: string): string => `job "a" {\n  group "g" {\n    task "t" {\n${inner}\n    }\n  }\n}\n`;
const firstTask = (job: PlainValue): unknown => (job as { group: { task: unknown[] }[] }).group[0]?.task[0];

describe('attributes', () => {
  test.each([
    ['priority = "50"', { priority: 50 }],
    ['priority = null', {}],
    ['region = 5', { region: '5' }],
    ['region = true', { region: 'true' }],
    ['all_at_once = "1"', { all_at_once: true }],
    ['datacenters = [1, true]', { datacenters: ['1', 'true'] }],
    ['region = meta.x', { region: '${meta.x}' }],
    ['region = "${ a.b ~}  x"', { region: '${ a.b}x' }],
    ['region = "${foo}}"', { region: '${foo}}' }],
    ['region = "${foo != "" ? foo : "z"} ${ (foo) } ${[foo][0]}"', { region: '${foo} ${foo} ${foo}' }],
    ['region = "${\n  foo\n }"', { region: '${foo}' }],
    ['region = "${upper("x")}-${upper(NOMAD_x)}"', { region: 'X-${NOMAD_X}' }],
    ['datacenters = [for x in ["a"]: "${x}-${foo}-${ x }"]', { datacenters: ['a-${foo}-a'] }],
  ])('%s', (text, expected) => {
    expect(value(`job "a" {\n  ${text}\n}\n`)).toEqual({ labels: ['a'], ...expected });
  });

  test.each([
    ['priority = 50.5', ['2:14 bad_value']],
    ['priority = "x"', ['2:15 bad_value']],
    ['priority = meta.x', ['2:14 bad_value']],
    ['all_at_once = 1', ['2:17 bad_value']],
    ['datacenters = [null]', ['2:17 bad_value']],
    ['datacenters = "dc1"', ['2:18 bad_value']],
    ['region = "${var.nope}"', ['2:18 missing_attribute']],
    ['region = "${foo[*].x}"', ['2:21 missing_attribute']],
    ['region = "${foo()}"', ['2:15 unknown_function']],
    ['region = "${-foo}"', ['2:16 bad_operand']],
    ['priorty = 5', ['2:3 unsupported_attribute']],
    ['region { }', ['2:3 unsupported_block']],
    ['group = 1', ['2:3 unsupported_attribute']],
    ['group { }', ['2:9 missing_label']],
    ['group "x" "y" { }', ['2:13 extra_label']],
    ['meta {\n}\nmeta {\n}', ['4:1 duplicate_block']],
  ])('%s is refused', (text, expected) => {
    expect(problems(`job "a" {\n  ${text}\n}\n`)).toEqual(expected);
  });

  test('all problems are reported, sorted, and one that is not shown costs nothing', () => {
    const text = 'job "a" {\n  region = up("x")\n  priority = "x"\n  foo = 1\n}\n';
    expect(problems(text)).toEqual(['2:12 unknown_function', '3:15 bad_value', '4:3 unsupported_attribute']);
  });

  test('a misspelled name is recognised, also when it is a block instead', () => {
    const [first] = decode('job "a" {\n  priorty = 5\n}\n')._unsafeUnwrapErr();
    expect(first).toMatchObject({ suggestion: 'priority', snippet: '  priorty = 5\n  ^^^^^^^' });
    const [second] = decode('job "a" {\n  region { }\n}\n')._unsafeUnwrapErr();
    expect(second?.detail).toContain('attribute');
  });

  test('durations, ranges and null', () => {
    expect(firstTask(value(task('kill_timeout = "1h2m3.5s"\nshare = 255')))).toEqual({
      labels: ['t'],
      kill_timeout: 3_723_500_000_000,
      share: 255,
    });
    expect(problems(task('kill_timeout = "1d"'))).toEqual(['4:17 bad_value']);
    expect(problems(task('share = 256'))).toEqual(['4:9 out_of_range']);
    expect(problems(task('user = null'))).toEqual(['4:8 bad_value']);
  });

  test('a map as attribute or block, but not both', () => {
    expect(firstTask(value(task('env = { "a.b" = 1 }')))).toMatchObject({ env: { 'a.b': '1' } });
    expect(firstTask(value(task('env {\n  a = 1\n}')))).toMatchObject({ env: [{ a: '1' }] });
    expect(problems(task('env = { a = 1 }\nenv {\n  b = 2\n}'))).toEqual(['5:1 duplicate_block']);
    expect(problems(task('env {\n  a = null\n}'))).toEqual(['5:7 bad_value']);
  });

  test('a missing required attribute or block is reported where it belongs', () => {
    expect(problems(task('template { }'))).toEqual(['4:10 missing_required']);
    expect(problems('')).toEqual(['1:1 missing_block']);
  });
});

describe('free-form bodies', () => {
  test('objects become lists of one, blocks lists, labels levels', () => {
    const inner = `config {
      a = 1
      c = [1.5, true, null]
      d = { k = "v" }
      e = ({ k = "v" })
      f = [{ k = "v" }]
      g {
        h = {}
      }
      mount "x" "y" { z = 1 }
      mount "x" "z" { z = 2 }
      w = 1
      w { v = 1 }
      dynamic "q" {
        for_each = [1]
      }
      "\${x}" = 1
    }`.replace(/\n.*\$\{x\}.*/, '');
    expect(firstTask(value(task(inner)))).toMatchObject({
      config: [
        {
          a: 1,
          c: [1.5, true, null],
          d: [{ k: 'v' }],
          e: { k: 'v' },
          f: [{ k: 'v' }],
          g: [{ h: [{}] }],
          mount: [{ x: [{ y: [{ z: 1 }] }] }, { x: [{ z: [{ z: 2 }] }] }],
          w: [{ v: 1 }],
          dynamic: [{ q: [{ for_each: [1] }] }],
        },
      ],
    });
  });

  test('must be blocks, and cannot hold infinity', () => {
    expect(problems(task('config = { a = 1 }'))).toEqual(['4:1 unsupported_attribute']);
    expect(problems(task('config { a = 1/0 }'))).toEqual(['4:14 bad_value']);
  });

  test('a key of any name stays an own key', () => {
    const config = firstTask(value(task('config { __proto__ = 1 }'))) as { config: object[] };
    expect(Object.keys(config.config[0] ?? {})).toEqual(['__proto__']);
  });
});

describe('dynamic blocks', () => {
  test('are expanded in place with key, value, labels and outer iterators', () => {
    const text = `job "a" {
      group "first" { }
      dynamic "group" {
        for_each = { z = 1, b = 2 }
        labels = ["\${group.key}-\${group.value}"]
        content {
          count = group.value
          dynamic "task" {
            for_each = ["x"]
            iterator = each
            labels = [each.value]
            content {
              driver = "\${group.key}\${each.key}"
              config { a = each.value }
            }
          }
        }
      }
      group "last" { }
    }`;
    expect(value(text)).toEqual({
      labels: ['a'],
      group: [
        { labels: ['first'] },
        { labels: ['b-2'], count: 2, task: [{ labels: ['x'], driver: 'b0', config: [{ a: 'x' }] }] },
        { labels: ['z-1'], count: 1, task: [{ labels: ['x'], driver: 'z0', config: [{ a: 'x' }] }] },
        { labels: ['last'] },
      ],
    });
  });

  test.each([
    ['dynamic "group" {\n for_each = [1]\n content { }\n}', ['1:17 bad_dynamic']],
    ['dynamic "group" {\n for_each = [1]\n labels = [1,2]\n content { }\n}', ['3:14 bad_dynamic']],
    ['dynamic "group" {\n labels = [1]\n content { }\n}', ['1:17 bad_dynamic']],
    ['dynamic "nosuch" {\n for_each = [1]\n content { }\n}', ['1:9 unsupported_block']],
    ['dynamic "group" {\n for_each = null\n labels = [1]\n content { }\n}', ['2:13 bad_dynamic']],
    ['dynamic "group" {\n for_each = [1]\n labels = [null]\n content { }\n}', ['3:12 bad_dynamic']],
    ['dynamic "group" {\n for_each = [1]\n iterator = "x"\n labels = [1]\n content { }\n}', ['3:13 bad_dynamic']],
    ['dynamic "group" {\n for_each = [1]\n labels = [1]\n}', ['1:17 bad_dynamic']],
    ['dynamic "group" {\n for_each = [1,2]\n labels = [1]\n content {\n x = 1\n }\n}', ['5:2 unsupported_attribute']],
    ['dynamic "meta" {\n for_each = [1,2]\n content { }\n}', ['1:1 duplicate_block']],
  ])('%j is refused', (text, expected) => {
    const shifted = expected.map((each) => each.replace(/^\d+/, (line) => String(Number(line) + 1)));
    expect(problems(`job "a" {\n${text}\n}\n`)).toEqual(shifted);
  });

  test('are not possible at the top', () => {
    expect(problems('dynamic "job" {\n for_each = ["a"]\n labels = [job.value]\n content { }\n}\n')).toContain(
      '1:1 unsupported_block',
    );
  });
});

describe('variables and locals', () => {
  const use = (declaration: string, expression = 'var.x'): string =>
    `${declaration}\njob "a" {\n  region = ${expression}\n}\n`;

  test.each([
    ['variable "x" {\n  default = 1\n}', undefined, '1'],
    ['variable "x" {\n  type = number\n}', 'x = "5"', '5'],
    ['variable "x" { }', 'x = "y"', 'y'],
    ['variables {\n  x = "d"\n}', undefined, 'd'],
    ['variables {\n  x = "d"\n}', '{"x": "j"}', 'j'],
    ['variable "x" {\n  type = string\n  default = "d"\n}', 'x = <<E\nh\nE\n', 'h\n'],
  ])('%s with %j', (declaration, variables, expected) => {
    const options = variables === undefined ? {} : { variables };
    expect(value(use(declaration), options)).toMatchObject({ region: expected });
  });

  test('flags win over the text, and the declared type decides how they are read', () => {
    const source =
      'variable "s" { type = string }\nvariable "l" { type = list(string) }\njob "a" {\n  region = "${var.s}${var.l[0]}"\n}\n';
    expect(value(source, { variables: 's = "t"', variableFlags: { s: '[1]', l: '["b"]' } })).toMatchObject({
      region: '[1]b',
    });
    expect(problems(source, { variableFlags: { s: 'a', l: '[' } })).toEqual(['variable l 1:1 not_closed']);
  });

  test('a type from a default drops what an object has too many, and fixes the length of a tuple', () => {
    const object = 'variable "x" {\n  default = { a = 1 }\n}';
    expect(value(use(object, 'jsonencode(var.x)'), { variables: 'x = { a = 2, b = 3 }' })).toMatchObject({
      region: '{"a":2}',
    });
    expect(problems(use('variable "x" {\n  default = [1, 2]\n}', 'var.x[0]'), { variables: 'x = [1]' })).toEqual([
      'variables 1:5 bad_variable',
    ]);
  });

  test.each([
    ['variable "x" { }', undefined, ['1:10 variable_not_set']],
    ['variables {\n  x = 1\n}\nvariable "x" { }', undefined, ['4:10 duplicate_variable']],
    ['variable "a b" { default = 1 }', undefined, ['1:10 bad_variable']],
    ['variable "x" {\n  default = 1\n  sensitive = true\n}', undefined, ['3:3 unsupported_attribute']],
    ['variable "x" {\n  default = upper("a")\n}', undefined, ['2:13 function_not_allowed']],
    ['variable "x" {\n  default = foo\n}', undefined, ['2:13 unknown_variable']],
    ['variable "x" {\n  type = any\n  default = 1\n}', undefined, ['2:10 bad_type']],
    ['variable "x" {\n  type = object({a=string,b=optional(number)})\n}', 'x = {a=1}', ['2:29 bad_type']],
    ['variable "x" {\n  type = number\n  default = "a"\n}', undefined, ['3:13 bad_default']],
    ['variable "x" {\n  type = object({a=string,b=number})\n}', 'x = { a = 1 }', ['variables 1:5 bad_variable']],
    ['variable "x" { }', 'variable "x" { }', ['variables 1:1 bad_variable']],
    ['variable "x" { }', 'x = var.y', ['variables 1:5 unknown_variable']],
  ])('%j with %j is refused', (declaration, variables, expected) => {
    expect(problems(use(declaration), variables === undefined ? {} : { variables })).toEqual(expected);
  });

  test('an undeclared name in the variable text is a warning only', () => {
    const result = decode('variable "count" { default = 1 }\njob "a" { }\n', { variables: 'cout = 2' })._unsafeUnwrap();
    expect(result.warnings).toMatchObject([{ severity: 'warning', code: 'undeclared_variable', suggestion: 'count' }]);
  });

  test('validation speaks with the words of its author, at the value', () => {
    const source = `variable "x" {
  default = 1
  validation {
    condition = var.x > 3
    error_message = "Too small."
  }
}
job "a" { }
`;
    const [fromDefault] = decode(source)._unsafeUnwrapErr();
    expect(fromDefault).toMatchObject({ code: 'validation_failed', start: { line: 2 } });
    expect(fromDefault?.message).toContain('Too small.');
    expect(problems(source, { variables: 'x = 2' })).toEqual(['variables 1:5 validation_failed']);
    expect(problems(source, { variables: 'x = 4' })).toEqual([]);
    expect(problems(source.replace('var.x > 3', 'true'))).toEqual(['4:17 bad_variable']);
    expect(problems(source.replace('var.x > 3', 'var.x > var.y'))).toEqual(['4:25 bad_variable']);
  });

  test('locals in any order, over several blocks', () => {
    const source = `locals {
  c = "\${local.b}!"
}
locals {
  b = upper(local.a)
  a = var.x
}
${use('variable "x" { default = "v" }', '"${local.c} ${env.Y}"')}`;
    expect(value(source)).toMatchObject({ region: 'V! ${env.Y}' });
  });

  test.each([
    ['locals {\n  a = local.b\n  b = local.a\n}', ['2:3 local_cycle']],
    ['locals {\n  a = local.a\n}', ['2:3 local_cycle']],
    ['locals {\n  a = local.nope\n}', ['2:12 missing_attribute']],
    ['locals {\n  a = 1\n}\nlocals {\n  a = 2\n}', ['5:3 duplicate_local']],
    ['locals {\n  a { }\n}', ['2:3 bad_local']],
  ])('%j is refused', (declaration, expected) => {
    expect(problems(use(declaration, '"x"'))).toEqual(expected);
  });
});

describe('the JSON form', () => {
  test('reads by the schema what is a block', () => {
    const source = `{"job": [{"a": {"region": "\${upper(\\"x\\")}-\${NOMAD_X}", "meta": {"k.v": "w"}, "//": "a remark",
      "group": {"g": {"task": {"t": {"config": {"a": [1], "b": {"c": 1}}, "port": [{"p": {"to": 1}}, {"q": {}}]}}}}}}],
      "variable": {"x": {"type": "list(string)", "default": ["v"]}}, "locals": {"l": "\${var.x[0]}"}}`;
    expect(value(source)).toEqual({
      labels: ['a'],
      region: 'X-${NOMAD_X}',
      meta: [{ 'k.v': 'w' }],
      group: [
        {
          labels: ['g'],
          task: [
            {
              labels: ['t'],
              config: [{ a: [1], b: { c: 1 } }],
              port: [{ labels: ['p'], to: 1 }, { labels: ['q'] }],
            },
          ],
        },
      ],
    });
  });

  test('names the position of mistakes', () => {
    expect(problems('{"job": {"a": {"region": "${var.q}"}}}')).toEqual(['1:32 missing_attribute']);
    expect(problems('{"job": {"a": {"priority": "x"}}}')).toEqual(['1:29 bad_value']);
    expect(problems('{"job": {"a": ')).toEqual(['1:15 bad_json']);
    const repeated =
      '{"job": {"a": {"group": {"g": {"task": {"t": {"config": {"x": {"e\u0301": 1, "b": 2, "é": 3}}}}}}}}}';
    expect(problems(repeated)).toEqual(['1:80 duplicate_key']);
    expect(problems('\n{"job": {"a": {}}}\n')).toEqual(['2:1 item_expected']);
  });

  test('dynamic blocks', () => {
    const source =
      '{"job": {"a": {"dynamic": {"group": {"for_each": ["x"], "labels": ["${group.value}"], "content": {"count": 2}}}}}}';
    expect(value(source)).toEqual({ labels: ['a'], group: [{ labels: ['x'], count: 2 }] });
  });
});

describe('the literal mode for version 1', () => {
  test('evaluates nothing and is generous about form', () => {
    const source = `job "a" {
      region = "\${meta["x"]} \${upper("a")}", priority = 0x32
      datacenters = ["d", "e",]
      all_at_once = 1
      meta { "a.b" = "1", c.d = 2 }
      group "g" { task "t" {
        env = { A = "b" }
        config { x = { y = 1 }, mount = [{ z = 1 }, { z = 2 }] }
        template { data = <<-E
          one
            two
          E
        }
      } }
    }`;
    expect(value(source, { hcl1: true })).toEqual({
      labels: ['a'],
      region: '${meta["x"]} ${upper("a")}',
      priority: 50,
      datacenters: ['d', 'e'],
      all_at_once: true,
      meta: [{ 'a.b': '1', 'c.d': '2' }],
      group: [
        {
          labels: ['g'],
          task: [
            {
              labels: ['t'],
              env: [{ A: 'b' }],
              config: [{ x: [{ y: 1 }], mount: [{ z: 1 }, { z: 2 }] }],
              template: [{ data: 'one\n  two\n' }],
            },
          ],
        },
      ],
    });
  });

  test.each([
    ['region = <<E\n  x\n  E\n', '  x\n  '],
    ['region = <<E\nx\nE\n', 'x\n'],
    ['region = <<-E\n  x\n  E\n', 'x\n'],
    ['region = <<E\r\nx\r\ny\r\nE\r\n', 'x\ny\n'],
    ['region = "${a\r\nb}"\r\n', '${a\nb}'],
  ])('%j', (item, region) => {
    expect(value(`job "a" {\n${item}}\n`, { hcl1: true })).toEqual({ labels: ['a'], region });
  });

  test('ignores variables with a warning, and knows none itself', () => {
    const result = decode('job "a" { }', { hcl1: true, variables: 'x = 1' })._unsafeUnwrap();
    expect(result.warnings.map(({ code }) => code)).toEqual(['variables_ignored']);
    expect(problems('variable "x" { }\njob "a" { }', { hcl1: true })).toEqual(['1:1 unsupported_block']);
    expect(problems('job "a" {\n  region = x\n}', { hcl1: true })).toEqual(['2:12 unexpected_text']);
  });
});

describe('the caller', () => {
  test('can report problems of its own, which are sorted in', () => {
    const ids = { next: () => '' };
    const result = decodeFile('job "a" {\n  priority = 500\n}\n', {
      schema,
      ids,
      interpret: (body, report) => {
        const priority = body.blocks.get('job')?.[0]?.body.attributes.get('priority');
        if (priority !== undefined) report(priority.valueStart, { message: 'Too high.', severity: 'warning' });
        return 1;
      },
    })._unsafeUnwrap();
    expect(result.value).toBe(1);
    expect(result.warnings).toMatchObject([{ code: 'rule', message: 'Too high.', start: { line: 2, column: 14 } }]);
  });
});

describe('hostile input', () => {
  test.each([
    ['doubling texts', `locals {\n  l0 = "xxxxxxxxxx"\n${doubling('"${local.A}${local.A}"')}}\njob "a" { }`],
    [
      'doubling lists',
      `locals {\n  l0 = [1]\n${doubling('[local.A, local.A]')}}\njob "a" { region = jsonencode(local.l60) }`,
    ],
    ['nested loops', 'job "a" { region = [for a in range(1024): [for b in range(1024): [for c in range(1024): 1]]] }'],
    [
      'many blocks',
      'job "a" {\n  dynamic "group" {\n    for_each = [for a in range(1000): range(1000)]\n    labels = ["x"]\n    content {\n      dynamic "task" {\n        for_each = setproduct(group.value, group.value)\n        labels = ["t"]\n        content { }\n      }\n    }\n  }\n}\n',
    ],
    ['hidden failures', 'job "a" { region = [for a in range(1000): [for b in range(1000): try(nope(), a.b.c, 1)]] }'],
  ])('%s end in a diagnostic', (_, source) => {
    const time = processorTimeOf(() => {
      const codes = decode(source, { budget: createBudget() })
        ._unsafeUnwrapErr()
        .map(({ code }) => code);
      expect(codes.some((code) => code === 'too_much_work' || code === 'too_deep')).toBe(true);
    });
    expect(time).toBeLessThan(10_000);
  });
});

function doubling(form: string): string {
  return Array.from({ length: 60 }, (_, index) => `  l${index + 1} = ${form.replaceAll('A', `l${index}`)}\n`).join('');
}
