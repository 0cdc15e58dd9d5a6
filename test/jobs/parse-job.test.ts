import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../src/hcl/diagnostics/diagnostic.js';
import { type ParseJobOptions, parseJob } from '../../src/jobs/parse-job.js';

interface Vector {
  readonly id: string;
  readonly hcl: string;
  readonly variables: string;
  readonly canonicalize: boolean;
  readonly ok: boolean;
  readonly job?: unknown;
  readonly errors?: readonly { readonly line: number; readonly col: number }[];
}

const vectors = JSON.parse(readFileSync(new URL('../golden/hcl-jobs.json', import.meta.url), 'utf8')) as Vector[];

/** Results of the reference that are defects there; what we give instead is checked by the test of the same name below. */
const knownDefects: Readonly<Record<string, string>> = {
  'job-030': 'an infinite number cannot be written as JSON, so it is an error',
  'job-085': 'the shorthands set_contains_any, set_contains_all, is_set and is_not_set are honoured, not read as "="',
  'job-086': 'an affinity weight beyond 8 bits is an error, not wrapped around',
  'job-164': 'names that are unknown are kept in the JSON form, too, instead of garbled',
  'job-246': 'the brace behind an unknown name is not duplicated',
  'job-307': "errors in a group's secret block are reported, not lost",
};

function parsed(hcl: string, options: ParseJobOptions = {}) {
  return parseJob(hcl, options)._unsafeUnwrap().job;
}

function firstTask(hcl: string) {
  return parsed(hcl).TaskGroups?.[0]?.Tasks?.[0];
}

function errorsOf(hcl: string, options: ParseJobOptions = {}): Diagnostic[] {
  return parseJob(hcl, options)._unsafeUnwrapErr();
}

/** Without the class of undefined-valued keys: what a client would read. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe('known answers', () => {
  test.each(vectors.filter(({ id }) => !Object.hasOwn(knownDefects, id)))('$id', (vector) => {
    const { variables, canonicalize } = vector;
    const result = parseJob(vector.hcl, { variables, canonicalize, ids: { next: () => '' } });
    if (vector.ok) {
      expect(result.mapErr((errors) => errors.map(({ message, start }) => ({ message, start }))).isOk()).toBe(true);
      expect(asJson(result._unsafeUnwrap().job)).toEqual(vector.job);
      return;
    }
    const lines = result._unsafeUnwrapErr().map(({ start }) => start.line);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines).toEqual(expect.arrayContaining((vector.errors ?? []).map(({ line }) => line)));
  });
});

describe('differences from the known answers', () => {
  const vector = (id: string): Vector => {
    const found = vectors.find((candidate) => candidate.id === id);
    if (found === undefined) throw new Error(`no vector ${id}`);
    return found;
  };

  test('job-030: an infinite number', () => {
    expect(errorsOf(vector('job-030').hcl)).toMatchObject([{ start: { line: 15 } }]);
  });

  test('job-085: constraint shorthands', () => {
    const constraints = parsed(vector('job-085').hcl).Constraints ?? [];
    const expected = (vector('job-085').job as { Constraints: Record<string, string>[] }).Constraints;
    expected[5] = { ...expected[5], Operand: 'set_contains_any', RTarget: 'a,b' };
    expected[6] = { ...expected[6], Operand: 'set_contains_all', RTarget: 'a,b' };
    expected[7] = { ...expected[7], Operand: 'is_set', RTarget: '' };
    expect(constraints).toEqual(expected);
  });

  test('job-086: an affinity weight out of range', () => {
    expect(errorsOf(vector('job-086').hcl)).toMatchObject([{ code: 'out_of_range', start: { line: 19 } }]);
  });

  test('job-164: unknown names in the JSON form', () => {
    expect(parsed(vector('job-164').hcl).Region).toBe(`X-\${NOMAD_X}`);
  });

  test('job-246: a brace behind an unknown name', () => {
    expect(parsed(vector('job-246').hcl).Region).toBe(`{\${foo}}`);
  });

  test("job-307: an error in a group's secret", () => {
    expect(errorsOf(vector('job-307').hcl)).toMatchObject([{ start: { line: 4 } }]);
  });
});

describe('the shape of the specification', () => {
  test.each([
    ['no job', 'locals { a = 1 }', 'missing_block'],
    ['two jobs', 'job "a" { }\njob "b" { }', 'duplicate_block'],
    ['a job without a label', 'job { }', 'missing_label'],
    ['an unknown attribute', 'job "a" {\n priorty = 5\n}', 'unsupported_attribute'],
    ['a block as an attribute', 'job "a" {\n group = 5\n}', 'unsupported_attribute'],
    ['a required attribute missing', 'job "a" {\n group "g" {\n scaling { }\n }\n}', 'missing_required'],
    ['a list given as a text', 'job "a" {\n datacenters = "dc1"\n}', 'bad_value'],
    ['a number out of range', 'job "a" {\n spread {\n weight = 300\n }\n}', 'out_of_range'],
    ['a bad duration', 'job "a" {\n group "g" {\n shutdown_delay = "1d"\n }\n}', 'bad_value'],
    ['null for a duration', 'job "a" {\n group "g" {\n shutdown_delay = null\n }\n}', 'bad_value'],
    ['null for a plain text', 'job "a" {\n group "g" {\n task "t" {\n driver = null\n }\n }\n}', 'bad_value'],
    ['a scaling label', 'job "a" {\n group "g" {\n task "t" {\n scaling "disk" { }\n }\n }\n}', 'rule'],
    [
      'a resource scaled twice',
      'job "a" {\n group "g" {\n task "t" {\n scaling "cpu" { }\n scaling "CPU" { }\n }\n }\n}',
      'duplicate_block',
    ],
    [
      'a type that contradicts the label',
      'job "a" {\n group "g" {\n task "t" {\n scaling "cpu" { type = "vertical_mem" }\n }\n }\n}',
      'rule',
    ],
    ['a type of group scaling', 'job "a" {\n group "g" {\n scaling {\n max = 1\n type = "x"\n }\n }\n}', 'rule'],
  ])('%s', (_name, hcl, code) => {
    expect(errorsOf(hcl).map((error) => error.code)).toContain(code);
  });

  test('null is "not given" where a field can be that', () => {
    expect(
      parsed('job "a" {\n  region = null\n  priority = null\n  meta = null\n  datacenters = null\n}'),
    ).toMatchObject({
      Region: null,
      Priority: null,
      Meta: null,
      Datacenters: null,
    });
  });

  test('the label is the ID and the name, unless they are given', () => {
    expect(parsed('job "a" { }')).toMatchObject({ ID: 'a', Name: 'a' });
    expect(parsed('job "a" {\n  id = "b"\n  name = "c"\n}')).toMatchObject({ ID: 'b', Name: 'c' });
  });

  test('a task outside a group becomes a group before the others', () => {
    const job = parsed('job "a" {\n group "g" { }\n task "t" {\n driver = "d"\n }\n task "u" { }\n}');
    expect(job.TaskGroups?.map(({ Name, Tasks }) => [Name, Tasks?.map((task) => task.Name)])).toEqual([
      ['t', ['t']],
      ['u', ['u']],
      ['g', undefined],
    ]);
  });

  test("a vault block comes from the task, else its group, else the job, and is the task's own copy", () => {
    const job = parsed(`job "a" {
      vault { role = "job" }
      group "g" {
        vault { role = "group" }
        task "t" {
          vault { role = "task" }
        }
        task "u" { }
      }
      group "h" {
        task "v" { }
        task "w" { }
      }
    }`);
    const roles = job.TaskGroups?.map((group) => group.Tasks?.map((task) => task.Vault?.Role));
    expect(roles).toEqual([
      ['task', 'group'],
      ['job', 'job'],
    ]);
    const [v, w] = job.TaskGroups?.[1]?.Tasks ?? [];
    expect(v?.Vault).not.toBe(w?.Vault);
    expect(v?.Vault).toMatchObject({ Env: true, DisableFile: false, ChangeMode: 'restart' });
  });

  test('secrets add up: the task its own, then the group, then the job', () => {
    const job = parsed(`job "a" {
      secret "j" { path = "p" }
      group "g" {
        secret "g" { path = "p" }
        task "t" {
          secret "t" { path = "p" }
        }
      }
    }`);
    expect(job.TaskGroups?.[0]?.Tasks?.[0]?.Secrets?.map(({ Name }) => Name)).toEqual(['t', 'g', 'j']);
  });

  test('ports with a static number are reserved; both spellings may stand together', () => {
    const job = parsed(`job "a" {
      group "g" {
        network {
          reserved_ports "r" { static = 1 }
          port "s" { static = 2 }
          port "d" { to = 3 }
        }
        network {
          port "only" { static = 4 }
        }
      }
    }`);
    const networks = job.TaskGroups?.[0]?.Networks ?? [];
    expect(networks[0]?.ReservedPorts?.map(({ Label }) => Label)).toEqual(['r', 's']);
    expect(networks[0]?.DynamicPorts?.map(({ Label }) => Label)).toEqual(['d']);
    expect(networks[1]?.DynamicPorts).toBeNull();
  });

  test('the first unnamed or default identity is the own one of the task', () => {
    const task = firstTask(`job "a" {
      group "g" {
        task "t" {
          identity { name = "x" }
          identity { env = true }
          identity { name = "default" }
        }
      }
    }`);
    expect(task?.Identity).toMatchObject({ Name: '', Env: true });
    expect(task?.Identities?.map(({ Name }) => Name)).toEqual(['x', 'default']);
  });

  test('affinity weights are cut to whole numbers and checked', () => {
    const weight = (text: string) => parsed(`job "a" {\n affinity {\n weight = ${text}\n }\n}`).Affinities?.[0]?.Weight;
    expect(weight('1.9')).toBe(1);
    expect(weight('-1.9')).toBe(-1);
    expect(Object.is(weight('-0.5'), 0)).toBe(true);
    expect(weight('"-30"')).toBe(-30);
  });
});

describe('options', () => {
  test('variables: flags win over the text, the text over the defaults', () => {
    const hcl = 'variable "r" {\n default = "a"\n}\njob "j" {\n region = var.r\n}';
    expect(parsed(hcl).Region).toBe('a');
    expect(parsed(hcl, { variables: 'r = "b"' }).Region).toBe('b');
    expect(parsed(hcl, { variables: 'r = "b"', variableFlags: { r: 'c' } }).Region).toBe('c');
  });

  test('functions of paths work without files, functions of files do not', () => {
    expect(parsed('job "j" {\n region = basename("/a/b.sh")\n}').Region).toBe('b.sh');
    expect(parsed('job "j" {\n region = dirname("/a/b.sh")\n}').Region).toBe('/a');
    for (const call of ['file("a")', 'filebase64("a")', 'abspath("a")', 'pathexpand("~")', 'fileset("a", "*")[0]']) {
      expect(errorsOf(`job "j" {\n region = ${call}\n}`)).toMatchObject([
        { message: expect.stringContaining('switched off') },
      ]);
    }
  });

  test('an undeclared variable is only a warning, unless variables are strict', () => {
    expect(errorsOf('job "j" { }', { variables: 'x = 1', strictVariables: true })).toMatchObject([
      { code: 'undeclared_variable', file: 'variables' },
    ]);
    const { warnings } = parseJob('job "j" { }', { variables: 'x = 1' })._unsafeUnwrap();
    expect(warnings).toMatchObject([{ code: 'undeclared_variable', severity: 'warning', file: 'variables' }]);
  });

  test('an error in the variable text says so', () => {
    expect(errorsOf('variable "x" {\n type = number\n}\njob "j" { }', { variables: 'x = "y"' })).toMatchObject([
      { file: 'variables', start: { line: 1 } },
    ]);
  });

  test('canonicalize fills the defaults', () => {
    expect(parsed('job "j" { }', { canonicalize: true })).toMatchObject({
      Namespace: 'default',
      Region: 'global',
      NodePool: '',
      Datacenters: null,
      Priority: 50,
      CreateIndex: 0,
    });
  });

  test('a text that asks for new UUIDs needs a source of them', () => {
    const hcl = 'job "j" {\n region = uuidv4()\n}';
    expect(errorsOf(hcl)).toMatchObject([{ code: 'unknown_function' }]);
    expect(parsed(hcl, { ids: { next: () => 'u-1' } }).Region).toBe('u-1');
  });

  test('version 1 texts keep interpolations as text and convert weakly', () => {
    const hcl = `job "j" {\n  region = "\${var.x}"\n  priority = "5"\n  datacenters = ["a"]\n  meta { "a.b" = 1 }\n}`;
    expect(parsed(hcl, { hcl1: true })).toMatchObject({ Region: `\${var.x}`, Priority: 5, Meta: { 'a.b': '1' } });
  });

  test('the JSON form gives the same job', () => {
    const hcl = 'job "j" {\n  priority = 5\n  group "g" {\n    task "t" {\n      driver = "d"\n    }\n  }\n}';
    const json = '{"job":{"j":{"priority":5,"group":{"g":{"task":{"t":{"driver":"d"}}}}}}}';
    expect(parsed(json)).toEqual(parsed(hcl));
  });
});

test('never throws, whatever the text', () => {
  const piece = fc.constantFrom(
    'job "a" {',
    '}',
    '\n',
    'group "g" {',
    'x = 1',
    '"${',
    'task',
    '[',
    '<<E\n',
    '%{if',
    'dynamic',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece).map((pieces) => pieces.join(' ')),
      ),
      (text) => {
        const result = parseJob(text);
        return result.isOk() || result.error.length > 0;
      },
    ),
  );
});
