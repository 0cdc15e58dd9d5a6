import { describe, expect, it } from 'vitest';
import { Stopped } from '../../../../adapters/cli/stopped.js';
import { itemsFrom, itemsOfJson } from '../../../../adapters/cli/variables/items-from.js';

const files: Readonly<Record<string, string>> = {
  '-': '{"user": "ada"}',
  'key.pem': 'line one\nline two\n',
  'items.json': '{"a": "1", "b": "2"}',
  'variable.json': '{"Namespace": "team", "Path": "app/db", "ModifyIndex": 7, "Items": {"a": "x"}}',
};
const read = async (path: string): Promise<string> => files[path] ?? '';

describe('the items of a command line', () => {
  it.each([
    [['a=1', 'b=', 'c=x=y'], { a: '1', b: '', c: 'x=y' }],
    [['pem=@key.pem'], { pem: 'line one\nline two\n' }],
    [['user=-'], { user: '{"user": "ada"}' }],
    [['-'], { user: 'ada' }],
    [['@items.json', 'b=3'], { a: '1', b: '3' }],
    [['b=3', '@items.json'], { a: '1', b: '2' }],
    [['at=\\@home', 'dash=\\-', 'back=\\x'], { at: '@home', dash: '-', back: '\\x' }],
  ])('%j are %j', async (words, items) => {
    expect((await itemsFrom(words, read)).items).toEqual(items);
  });

  it('may be a variable as it was read, with its path and its index', async () => {
    expect(await itemsFrom(['@variable.json', 'b=2'], read)).toEqual({
      items: { a: 'x', b: '2' },
      document: { path: 'app/db', namespace: 'team', index: 7 },
    });
  });

  it.each([
    [['a=1', 'hunter2'], 'item 2 must be KEY=VALUE, @FILE or -'],
    [['=hunter2'], 'item 1 must be KEY=VALUE, @FILE or -'],
    [['-', 'a=-'], 'standard input can be read only once'],
    [['@variable.json', '@variable.json'], 'give one document of a variable'],
  ])('%j cannot be meant', async (words, message) => {
    await expect(itemsFrom(words, read)).rejects.toEqual(new Stopped(message, 2));
  });
});

describe('JSON with items', () => {
  it.each([
    ['{"a": "hunter2", }', 'f:1:18: expected a key in double quotes'],
    ['["hunter2"]', 'f: expected an object with string values'],
    ['{"a": "x", "b": 5, "c": ["hunter2"]}', 'f: every item must be a string; these are not valid: /b, /c'],
    ['{"Items": {"a": 5}}', 'f: the variable cannot be read; these are not valid: /Items/a'],
    ['{"Items": {}, "ModifyIndex": -1}', 'f: the variable cannot be read; these are not valid: /ModifyIndex'],
  ])('says where %s is not as it should be, and no value', (text, message) => {
    expect(() => itemsOfJson(text, 'f')).toThrow(new Stopped(message));
  });
});
