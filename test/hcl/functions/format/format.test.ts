import { describe } from 'vitest';
import { expectErrors, expectValues } from '../evaluated.js';

describe('format', () => {
  expectValues([
    ['format("%%|%s|%v", "a", 1.5)', '"%|a|1.5"'],
    ['format("%v", 1000000)', '"1e+06"'],
    ['format("%v", 123456)', '"123456"'],
    ['format("%s", 1000000)', '"1000000"'],
    ['format("%v %v", null, [1, "a"])', '"null [1,\\"a\\"]"'],
    ['format("%#v", "a")', '"\\"a\\""'],
    ['format("%q", "a\\"b")', '"\\"a\\\\\\"b\\""'],
    ['format("%5s|%-5s|%05s", "é", "é", "é")', '"    é|é    |0000é"'],
    ['format("%.2s", "👨‍👩‍👧bc")', '"👨‍👩‍👧b"'],
    ['format("%t", "true")', '"true"'],
    ['format("%+d % d %05d %-5d| %.3d", 5, 5, -5, 5, 5)', '"+5  5 -0005 5    | 005"'],
    ['format("%b %o %#o %x %#X", 5, 8, 8, 255, 255)', '"101 10 010 ff 0XFF"'],
    ['format("%x", 340282366920938463463374607431768211455)', '"ffffffffffffffffffffffffffffffff"'],
    ['format("%f %.2f %.0f %8.1f", 1.5, 0.125, 2.5, 1)', '"1.500000 0.12 2      1.0"'],
    ['format("%e %.1E", 12345, 0.00012)', '"1.234500e+04 1.2E-04"'],
    ['format("%g %g %G %.3g", 0.1, 0.00001, 1e-7, 12345)', '"0.1 1e-05 1E-07 1.23e+04"'],
    ['format("%g %.3g %.0g %+.2G %.1e", 0, 0, 0, 0, 0)', '"0 0 0 +0 0.0e+00"'],
    ['format("%[2]s %s", "a", "b", "c")', '"b c"'],
    ['format("%[1]s%[1]s", "a")', '"aa"'],
    ['format("%d", 1e30)', '"1000000000000000000000000000000"'],
    ['format("%f", 1 / 0)', '"+Inf"'],
    ['formatlist("%s-%s", ["a", "b"], "x")', '["a-x","b-x"]', 'list of string'],
    ['formatlist("%s", convert(["b", "a"], set(string)))', '["a","b"]'],
    ['formatlist("%s", "a")', '["a"]'],
    ['formatlist("a")', '["a"]'],
    ['formatlist("%s", [])', '[]', 'list of string'],
    ['formatlist("%v", null)', '["null"]'],
  ]);
  expectErrors([
    'format("%#v", 1 / 0)',
    'format("%v", [-1 / 0])',
    'format("%s")',
    'format("%s", "a", "b")',
    'format("a", "b")',
    'format("%s", null)',
    'format("%s", [1])',
    'format("%d", 1.5)',
    'format("%d", "x")',
    'format("%z", 1)',
    'format("%", 1)',
    'format("%*d", 1, 2)',
    'format("%[0]s", 1)',
    'format("%#v", 1 / 0) == jsonencode(1 / 0)',
    'formatlist("%s%s", ["a"], ["b", "c"])',
    'formatlist("%d", ["a"])',
  ]);
});

describe('dates', () => {
  expectValues([
    [`formatdate("''''", "2020-01-02T03:04:05Z")`, `"''"`],
    [`formatdate("'''a'YY'b'''", "2020-01-02T03:04:05Z")`, `"'a20b'"`],
    ['formatdate("YYYY-MM-DD hh:mm:ss Z", "2020-02-29T23:59:58Z")', '"2020-02-29 23:59:58 Z"'],
    ['formatdate("EEEE, D MMMM YY H aa ZZZ", "0099-12-31T00:00:00+00:00")', '"Thursday, 31 December 99 12 am UTC"'],
    ["formatdate(\"'it''s' h ''\", \"2020-01-01T01:02:03.5Z\")", '"it\'s 1 \'"'],
    ['formatdate("é M", "2020-01-01T01:02:03Z")', '"é 1"'],
    ['timeadd("2020-02-28T23:59:59Z", "1s")', '"2020-02-29T00:00:00Z"'],
    ['timeadd("2020-01-01T00:00:00.9Z", "100ms")', '"2020-01-01T00:00:01Z"'],
    ['timeadd("1969-12-31T23:59:59.5Z", "-600ms")', '"1969-12-31T23:59:58Z"'],
    ['timeadd("2020-01-01T00:00:00+05:30", "-1.5h30m")', '"2019-12-31T22:00:00+05:30"'],
    ['timeadd("2020-01-01T00:00:00Z", "0")', '"2020-01-01T00:00:00Z"'],
    ['timeadd("2020-01-01T00:00:00Z", "1µs")', '"2020-01-01T00:00:00Z"'],
  ]);
  expectErrors([
    'formatdate("YYYY", "2020-01-02T03:04:05,5Z")',
    'formatdate("YYY", "2020-01-01T00:00:00Z")',
    'formatdate("x", "2020-01-01T00:00:00Z")',
    'formatdate("\'x", "2020-01-01T00:00:00Z")',
    'formatdate("D", "2021-02-29T00:00:00Z")',
    'formatdate("D", "2020-01-01 00:00:00Z")',
    'formatdate("D", "2020-01-01T24:00:00Z")',
    'formatdate("D", "2020-01-01T00:00:60Z")',
    'timeadd("2020-01-01T00:00:00Z", "1 day")',
    'timeadd("2020-01-01T00:00:00Z", "")',
    'timeadd("2020-01-01T00:00:00Z", "9999999h")',
    'timeadd("9999-12-31T23:59:59Z", "1s")',
  ]);
});
