import { describe } from 'vitest';
import { expectErrors, expectValues } from '../evaluated.js';

describe('encodings', () => {
  expectValues([
    ['base64encode("é😀")', '"w6nwn5iA"'],
    ['base64decode("w6nwn5iA")', '"é😀"'],
    ['base64decode("aG\\nk=")', '"hi"'],
    ['base64decode("")', '""'],
    ['urlencode("a b/!\'()*~-._é")', '"a+b%2F%21%27%28%29%2A~-._%C3%A9"'],
    ['jsonencode({b = [1.50, null], a = "x"})', '"{\\"a\\":\\"x\\",\\"b\\":[1.5,null]}"'],
    ['jsonencode(12345678901234567890.5)', '"12345678901234567890.5"'],
    ['jsondecode(" [1, 2.50, {\\"a\\": null}] ")', '[1,2.5,{"a":null}]', 'tuple'],
    ['jsondecode("12345678901234567890")', '12345678901234567890'],
    ['jsondecode("{\\"a\\":1,\\"a\\":2}")', '{"a":2}', 'object'],
    ['jsondecode("\\"\\\\ud83d\\\\ude00 \\\\ud83d\\"")', '"😀 \ufffd"'],
    ['jsondecode("{\\"__proto__\\":1}")', '{"__proto__":1}'],
    [
      'csvdecode("a,b\\r\\n1,\\"x\\r\\ny\\"\\r\\n\\r\\n2,\\n")',
      '[{"a":"1","b":"x\\ny"},{"a":"2","b":""}]',
      'list of object',
    ],
    ['csvdecode("a,b")', '[]', 'list of object'],
    ['csvdecode("\\"a\\"\\"b\\"\\n1")', '[{"a\\"b":"1"}]'],
  ]);
  expectErrors([
    'base64decode("aGk")',
    'base64decode("a?k=")',
    'base64decode("/w==")',
    'jsonencode(1 / 0)',
    'jsonencode([-1 / 0])',
    'jsondecode("")',
    'jsondecode("01")',
    'jsondecode("[1,]")',
    'jsondecode("{a:1}")',
    'jsondecode("1 2")',
    'jsondecode("nul")',
    'jsondecode("\\"\\t\\"")',
    'jsondecode("{\\"a\\":1,\\"a\\":\\"x\\"}")',
    'csvdecode("")',
    'csvdecode("a,a\\n1,2")',
    'csvdecode("a,b\\n1")',
    'csvdecode("a\\n\\"x")',
    'csvdecode("a\\nx\\"y")',
    'csvdecode("a\\n\\"x\\"y")',
  ]);
});

describe('YAML', () => {
  expectValues([
    ['yamlencode(true)', '"true\\n...\\n"'],
    [
      'yamlencode({a = {b = [[1, {c = "x"}], []]}})',
      '"\\"a\\":\\n  \\"b\\":\\n  - - 1\\n    - \\"c\\": \\"x\\"\\n  - []\\n"',
    ],
    ['yamlencode("a\\nb\\n\\n")', '"|+\\n  a\\n  b\\n\\n"'],
    ['yamlencode(" a\\nb")', '"|2-\\n   a\\n  b\\n"'],
    ['yamlencode("a \\nb")', '"\\"a \\\\nb\\"\\n"'],
    ['yamlencode("\\t😀")', '"\\"\\\\t\\\\U0001F600\\"\\n"'],
    ['yamldecode("a: 1\\nb: [x, {c: d}]\\n")', '{"a":1,"b":["x",{"c":"d"}]}', 'object'],
    ['yamldecode("- &x {k: 1}\\n- *x\\n- {<<: *x, l: 2}")', '[{"k":1},{"k":1},{"k":1,"l":2}]', 'tuple'],
    ['yamldecode("[0x1F, 0o17, 1_000, .5, 1e3, -7, 1.2.3]")', '[31,15,1000,0.5,1000,-7,"1.2.3"]'],
    ['yamldecode("[0b11, 1_0.5, 1_e3, 0x1_F, 1.e3, !!int 0b11]")', '["0b11","1_0.5","1_e3",31,1000,3]'],
    ['yamldecode("[yes, No, on, True, ~, null, \'yes\']")', '[true,false,true,true,null,null,"yes"]'],
    [
      'yamldecode("[2001-12-14, 2001-12-14t21:59:43.10-05:00]")',
      '["2001-12-14T00:00:00Z","2001-12-14T21:59:43-05:00"]',
    ],
    ['yamldecode("a: |\\n  x\\n   y\\n\\nb: >-\\n  f\\n  g\\n\\n  h\\n")', '{"a":"x\\n y\\n","b":"f g\\nh"}'],
    ['yamldecode("a: !!str 12\\nb: !!int \\"3\\"\\nc: !!float 3\\nd: !!int 0b11")', '{"a":"12","b":"3","c":3,"d":3}'],
    [
      'yamldecode("[!!int yes, !!bool 1, !!null 1, !!null x, !!int, !!bool \\"true\\", !!null \\"\\"]")',
      '[true,1,1,null,null,"true",""]',
    ],
    [
      'yamldecode("[!!timestamp 2020-01-02, !!timestamp \\"2020-01-02\\", !!str 2020-01-02]")',
      '["2020-01-02T00:00:00Z","2020-01-02","2020-01-02"]',
    ],
    ['yamldecode("[!!binary aGVsbG8=, !!binary \\"aGVs\\"]")', '["aGVsbG8=","aGVs"]'],
    [
      'yamldecode("a: &x {k: 1, m: 1}\\nb: {k: 2, <<: *x}\\nc: {<<: *x, k: 2}")',
      '{"a":{"k":1,"m":1},"b":{"k":1,"m":1},"c":{"k":2,"m":1}}',
    ],
    [
      'yamldecode("a: &x {k: 1}\\nb: &y {k: 2, l: 2}\\nc: {<<: [*x, *y], m: 3}")',
      '{"a":{"k":1},"b":{"k":2,"l":2},"c":{"k":1,"l":2,"m":3}}',
    ],
    ['yamldecode("---")', 'null'],
    ['yamldecode("? a\\n: b\\n")', '{"a":"b"}'],
    ['yamldecode("a: |\\n  x")', '{"a":"x"}'],
    ["yamldecode(\"a: x # c\\n# d\\nb: 'it''s'\")", '{"a":"x","b":"it\'s"}'],
    ['yamldecode("%YAML 1.1\\n---\\na\\n...\\n")', '"a"'],
  ]);
  expectErrors([
    'yamldecode("--- 1\\n--- 2")',
    'yamldecode("")',
    'yamldecode("# none\\n")',
    'yamldecode("!!binary aGVsbG8")',
    'yamldecode("!!int x")',
    'yamldecode("!!bool 2020-01-02")',
    'yamldecode("!!timestamp x")',
    'yamldecode("{<<: 1}")',
    'yamldecode("a: b: c")',
    'yamldecode("[1, 2")',
    'yamldecode("a: \\"x")',
    'yamldecode("*u")',
    'yamldecode("a: &x\\n  b: *x")',
    'yamldecode("a: !mine x")',
    'yamldecode("a: .nan")',
    'yamldecode("a: @x")',
    'yamldecode("a: b\\n c: d")',
    'yamldecode("{a: 1]")',
    'yamldecode("a: \\"\\\\q\\"")',
  ]);
});
