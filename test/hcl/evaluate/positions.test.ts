import { expect, test } from 'vitest';
import { evaluateExpression } from '../../../src/hcl/index.js';

/** Where the first problem of an expression begins and ends: `line:column-line:column`. */
function firstProblem(text: string): string {
  const [first] = evaluateExpression(text)._unsafeUnwrapErr();
  return `${first?.start.line}:${first?.start.column}-${first?.end.line}:${first?.end.column}`;
}

test.each([
  // A missing argument: the closing parenthesis.
  ['abs()', '1:5-1:6'],
  ['pow(1)', '1:6-1:7'],
  ['pow([1]...)', '1:11-1:12'],
  ['convert(1)', '1:10-1:11'],
  ['can()', '1:5-1:6'],
  ['try()', '1:1-1:5'],
  // An argument that is itself a call: its name and the opening parenthesis.
  ['upper(keys({}))', '1:7-1:12'],
  ['upper ( keys ({}))', '1:9-1:15'],
  ['upper("a", lower("b"))', '1:12-1:18'],
  // An argument that comes from an expanded list: the list.
  ['abs([1,2]...)', '1:5-1:10'],
  ['pow(1, [2,3]...)', '1:8-1:13'],
  ['upper([[1]]...)', '1:7-1:12'],
  ['upper([null]...)', '1:7-1:13'],
  // A value that the format does not use: the first of them.
  ['format("a",1)', '1:12-1:13'],
  ['format("%s",1,2)', '1:15-1:16'],
  ['format("a",[1,2]...)', '1:12-1:17'],
  ['formatlist("a",1)', '1:1-1:12'],
  // Arguments that do not fit together: the call.
  ['zipmap(["a"], "b")', '1:1-1:8'],
  // A null operand: the whole operation. Another kind of value: the operand.
  ['-null', '1:1-1:6'],
  ['!null', '1:1-1:6'],
  ['null+1', '1:1-1:7'],
  ['1+null', '1:1-1:7'],
  ['null+null', '1:1-1:10'],
  ['1 < null', '1:1-1:9'],
  ['false || null', '1:1-1:14'],
  ['null && true', '1:1-1:13'],
  ['null || 1', '1:9-1:10'],
  ['null+[1]', '1:6-1:9'],
  ['[1]+null', '1:1-1:4'],
  // A type.
  ['convert(1, foo)', '1:12-1:15'],
  ['convert(1, foo(string))', '1:12-1:23'],
  ['convert(1, list())', '1:16-1:18'],
  ['convert(1, list(string, number))', '1:25-1:31'],
  ['convert(1, object())', '1:18-1:20'],
  ['convert(1, tuple(string))', '1:18-1:24'],
  // A call without its end: the name and the opening parenthesis.
  ['upper("a"', '1:1-1:7'],
  ['upper ("a"', '1:1-1:8'],
  // A directive without its end in a heredoc: the line of the closing word.
  ['<<EOT\n%{ if true }\nEOT\n', '3:1-3:4'],
  ['<<-EOT\n  %{ for x in [1] }\n  EOT\n', '3:1-3:6'],
  ['"%{ if true }x"', '1:15-1:16'],
])('%j is wrong at %s', (text, position) => {
  expect(firstProblem(text)).toBe(position);
});
