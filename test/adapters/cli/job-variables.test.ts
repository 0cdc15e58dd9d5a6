import { describe, expect, it } from 'vitest';
import { typed } from './typed-commands.js';

const job = `
variable "greeting" {
  default = "default"
}
variable "count" {
  type    = number
  default = 1
}
variable "list" {
  type    = list(string)
  default = []
}
job "j" {
  meta {
    value = "\${var.greeting} \${var.count} \${join("+", var.list)}"
  }
}`;

interface Values {
  readonly words?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly path?: string;
}

async function parsed({ words = [], environment = {}, files = {}, path = 'j.hcl' }: Values) {
  const given = { files: { [path]: job, ...files }, environment };
  const { code, out, error } = await typed('http://127.0.0.1:1', given, 'parse', ...words, path);
  const value = code === 0 ? (JSON.parse(out) as { Meta: { value: string } | null }).Meta?.value : undefined;
  return { code, value, error };
}

describe('values of variables', () => {
  const environment = { NOMAD_VAR_greeting: 'nomad', SIGNALBOX_VAR_count: '2', SIGNALBOX_VAR_list: '["a", "b"]' };
  const files = {
    'v.hcl': 'greeting = "file"',
    'w.hcl': 'greeting = "later"\ncount = 7',
    'x.json': '{"greeting": "json"}',
  };

  it.each<[string, Values, string]>([
    ['their defaults', {}, 'default 1 '],
    ['the environment before defaults', { environment }, 'nomad 2 a+b'],
    [
      'the environment of this program before that of another one',
      { environment: { ...environment, SIGNALBOX_VAR_greeting: 'own' } },
      'own 2 a+b',
    ],
    ['a file before the environment', { environment, files, words: ['-var-file', 'v.hcl'] }, 'file 2 a+b'],
    ['a later file before an earlier one', { files, words: ['-var-file=v.hcl', '-var-file=w.hcl'] }, 'later 7 '],
    ['files in both forms', { files, words: ['-var-file=w.hcl', '-var-file=x.json'] }, 'json 7 '],
    [
      'an option before a file',
      { environment, files, words: ['-var', 'greeting=flag', '-var-file', 'v.hcl'] },
      'flag 2 a+b',
    ],
    [
      'nothing from names that are not declared',
      { environment: { NOMAD_VAR_other: 'x', NOMAD_VAR_: 'y' } },
      'default 1 ',
    ],
  ])('are %s', async (_name, given, value) => {
    expect(await parsed(given)).toMatchObject({ code: 0, error: '', value });
  });

  it('are refused for names that are not declared, in files and options', async () => {
    const typo = { 'v.hcl': '\ngreting = "x"' };
    const inFile = await parsed({ files: typo, words: ['-var-file', 'v.hcl'] });
    expect(inFile.code).toBe(1);
    expect(inFile.error).toMatch(/v\.hcl:2.*"greting" is not declared[\s\S]*greeting/);
    expect((await parsed({ words: ['-var', 'greting=x'] })).code).toBe(1);
  });

  it('are ignored with a warning for such names with -hcl2-strict=false', async () => {
    const words = ['-hcl2-strict=false', '-var-file', 'v.hcl', '-var', 'other=y'];
    const loose = await parsed({ files: { 'v.hcl': 'greting = "x"' }, words });
    expect(loose).toMatchObject({ code: 0, value: 'default 1 ', error: expect.stringContaining('is not declared') });
    expect((await parsed({ words: ['-hcl2-strict=maybe'] })).code).toBe(2);
  });

  it('are refused where the file has no variables', async () => {
    const path = 'j.json';
    const json = { [path]: '{"ID": "j"}' };
    const refused = await parsed({ path, files: json, words: ['-var', 'a=b', '-hcl1'] });
    expect(refused).toMatchObject({ code: 2, error: expect.stringContaining('leave -var and -hcl1 out') });
    const old = { 'j.hcl': 'job "j" {}' };
    expect((await parsed({ files: old, words: ['-hcl1', '-var', 'a=b'] })).error).toContain('leave the values out');
    expect((await parsed({ files: old, words: ['-hcl1'] })).code).toBe(0);
  });

  it('that the environment gives must fit', async () => {
    const { code, error } = await parsed({ environment: { NOMAD_VAR_list: 'not a list' } });
    expect(code).toBe(1);
    expect(error).toContain('variable list');
  });
});
