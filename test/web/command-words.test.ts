import { expect, it } from 'vitest';
import { commandWords, withKeys } from '../../web/rules/command-words.js';

it.each<readonly [line: string, words: readonly string[] | undefined]>([
  ['', []],
  ['  ', []],
  ['/bin/ls -l  /tmp ', ['/bin/ls', '-l', '/tmp']],
  [`/bin/sh -c 'echo "a b"; exit 3'`, ['/bin/sh', '-c', 'echo "a b"; exit 3']],
  ['echo "a \\" b" c\\ d', ['echo', 'a " b', 'c d']],
  ['echo a"b"\'c\' ""', ['echo', 'abc', '']],
  ['echo "\\n"', ['echo', '\\n']],
  [`echo 'open`, undefined],
  ['echo "open', undefined],
  ['echo \\', undefined],
])('the words of %j are %j', (line, words) => {
  expect(commandWords(line)).toEqual(words);
});

it.each<readonly [before: string, keys: string, after: object]>([
  ['', 'ab', { line: 'ab', shown: 'ab', sent: '', ends: false }],
  ['ab', '\r', { line: '', shown: '\r\n', sent: 'ab\n', ends: false }],
  ['', 'one\rtwo', { line: 'two', shown: 'one\r\ntwo', sent: 'one\n', ends: false }],
  ['a🎉', '\u007f', { line: 'a', shown: '\b \b', sent: '', ends: false }],
  ['', '\u007f', { line: '', shown: '', sent: '', ends: false }],
  ['ab', '\u0004', { line: '', shown: '', sent: 'ab', ends: false }],
  ['', '\u0004', { line: '', shown: '', sent: '', ends: true }],
  ['', '\u001b[A', { line: '', shown: '', sent: '', ends: false }],
])('with %j before, the keys %j give %j', (before, keys, after) => {
  expect(withKeys(before, keys)).toEqual(after);
});
