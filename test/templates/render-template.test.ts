import { describe, expect, it } from 'vitest';
import { parseTemplate, type RenderOptions, type TemplateInputs } from '../../src/templates/index.js';

const variables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'app/db': { user: 'svc', password: 'p w' },
  'app/flags': { on: 'true' },
  'other@prod': { key: 'of prod' },
};

const inputs: TemplateInputs = {
  env: {
    HOME: '/home/svc',
    COUNT: '3',
    EMPTY: '',
    'node.unique.name': 'n1',
    'attr.kernel.name': 'linux',
    'node.class': '',
  },
  meta: { team: 'pay', __proto__x: 'kept' },
  variable: (path, namespace) => variables[namespace === undefined ? path : `${path}@${namespace}`],
  variables: (prefix) =>
    Object.keys(variables)
      .filter((path) => path.startsWith(prefix) && !path.includes('@'))
      .map((path) => ({ path, namespace: 'default' })),
};

function render(source: string, options: RenderOptions = {}): string {
  return parseTemplate(source)
    .andThen((template) => template.render(inputs, options))
    .match(
      ({ text }) => text,
      ({ line, column, message }) => `${line}:${column}: ${message}`,
    );
}

describe('rendering', () => {
  it.each([
    ['', ''],
    ['plain } { text', 'plain } { text'],
    ['a {{ env "HOME" }} b', 'a /home/svc b'],
    ['{{ "a\\tb\\u00e9" }}{{ `raw "x"` }}', 'a\tbéraw "x"'],
    ['{{ 0x1F }} {{ -7 }} {{ 1.50 }} {{ 1e21 }} {{ 0.00001 }} {{ true }}', '31 -7 1.5 1e+21 1e-05 true'],
    ['{{/* nothing */}}x', 'x'],
    // Space beside actions
    ['a \n {{- " b " -}} \n c', 'a b c'],
    ['a \n {{- /* c */ -}} \n b', 'ab'],
    ['{{ 3 -}}  x', '3x'],
    ['x {{ env "COUNT"  -}} y', 'x 3y'],
    ['x {{ env "COUNT"\n  -}} y', 'x 3y'],
    ['x {{ env "COUNT"\t\t-}} y', 'x 3y'],
    ['x {{ env "COUNT" \r\n-}} y', 'x 3y'],
    ['x {{-\n\t  env "COUNT" }} y', 'x3 y'],
    ['x {{-   3   -}} y', 'x3y'],
    ['{{ if eq (env "COUNT") "3"   -}} 1 {{ else  -}} 2 {{ end  -}} z', '1 z'],
    ['{{ range loop 2  -}} {{ . }},{{ end  -}} z', '0,1,z'],
    ['{{ $x := 1  -}} {{ $x }}', '1'],
    ['a {{-  /* c */  -}} b', 'ab'],
    ['{{ 5 -3 }}', '1:4: only functions take arguments'],
    // Environment, meta
    ['{{ env "NOPE" }}|{{ envOrDefault "EMPTY" "other" }}|{{ env "constructor" }}', '||'],
    ['{{ envOrDefault "NOPE" "other" }}', 'other'],
    ['{{ mustEnv "EMPTY" }}', '1:4: the environment has no "EMPTY", or an empty one'],
    ['{{ mustEnv "NOPE" }}', '1:4: the environment has no "NOPE", or an empty one'],
    ['{{ meta "team" }}', 'pay'],
    // The node
    ['{{ env "node.unique.name" }} {{ mustEnv "attr.kernel.name" }}', 'n1 linux'],
    ['{{ if eq (env "attr.kernel.name") "linux" }}l{{ else }}o{{ end }}', 'l'],
    ['[{{ env "meta.rack" }}{{ env "node.class" }}]{{ envOrDefault "meta.rack" "none" }}', '[]none'],
    ['{{ mustEnv "meta.rack" }}', '1:4: the environment has no "meta.rack", or an empty one'],
    [
      '{{ env (printf "node.%s" "shoe") }}',
      '1:4: unknown reference to the node: nodes have node.unique.id, node.unique.name, node.datacenter, node.region, node.class, node.pool, attr.NAME and meta.NAME',
    ],
    // Conditions
    ['{{ if eq (env "COUNT") "3" }}three{{ else }}other{{ end }}', 'three'],
    ['{{ if false }}a{{ else if 0 }}b{{ else if "x" }}c{{ else }}d{{ end }}', 'c'],
    ['{{ if and 1 "" }}a{{ else }}b{{ end }}', 'b'],
    ['{{ or "" 0 "x" }}{{ and 1 2 }}', 'x2'],
    ['{{ and false (index (split "," "a") 9) }}', 'false'],
    ['{{ not (split "," "") }}{{ eq 1 2 3 1 }}{{ ne "a" "b" }}', 'truetruetrue'],
    ['{{ lt 1 2 }}{{ le 2 2 }}{{ gt "b" "a" }}{{ ge 1.5 2.5 }}', 'truetruetruefalse'],
    ['{{ eq 1 1.0 }}', '1:4: a whole number and a number cannot be compared'],
    ['{{ eq nil (parseJSON `{}`).x }}', 'true'],
    ['{{ with env "HOME" }}at {{ . }}{{ else }}nowhere{{ end }}', 'at /home/svc'],
    ['{{ with env "NOPE" }}x{{ else with env "COUNT" }}{{ . }}{{ end }}', '3'],
    // Loops
    ['{{ range split "," "a,b" }}[{{ . }}]{{ end }}', '[a][b]'],
    ['{{ range $i, $v := split "," "a,b" }}{{ $i }}{{ $v }}{{ end }}', '0a1b'],
    ['{{ range $v := split "," "a,b" }}{{ $v }}{{ end }}', 'ab'],
    ['{{ range $k, $v := parseJSON `{"b":1,"a":2}` }}{{ $k }}={{ $v }};{{ end }}', 'a=2;b=1;'],
    ['{{ range split "," "" }}x{{ else }}none{{ end }}', 'none'],
    ['{{ range 5 }}{{ if eq . 1 }}{{ continue }}{{ end }}{{ if eq . 3 }}{{ break }}{{ end }}{{ . }}{{ end }}', '02'],
    ['{{ range loop 2 4 }}{{ . }}{{ end }}', '23'],
    ['{{ range "text" }}{{ end }}', '1:4: a range goes over a list, a map or a whole number, not a string'],
    // Variables of the template
    ['{{ $x := 1 }}{{ range loop 3 }}{{ $x = add $x . }}{{ end }}{{ $x }}', '4'],
    ['{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ $x }}{{ end }}{{ $x }}', '21'],
    ['{{ with $x := env "COUNT" }}{{ $x }}{{ end }}', '3'],
    // Pipes
    ['{{ "a-b" | replaceAll "-" "_" | toUpper | printf "%s!" }}', 'A_B!'],
    ['{{ (env "COUNT") | parseInt | add 1 }}', '4'],
    // Data
    ['{{ (parseJSON `{"a":{"b":["x","y"]}}`).a.b }}', '[x y]'],
    ['{{ index (parseJSON `{"a":[1,2]}`) "a" 1 }}', '2'],
    [
      '{{ $m := parseJSON `{"a":null}` }}{{ $m }} {{ $m.a }} {{ $m.b }} {{ len $m }}',
      'map[a:<nil>] <no value> <no value> 1',
    ],
    ['{{ parseJSON `{"b":[1,{"c":"<"}],"a":true}` | toJSON }}', '{"a":true,"b":[1,{"c":"\\u003c"}]}'],
    ['{{ parseJSON `{"a":[],"b":{"c":1}}` | toJSONPretty }}', '{\n  "a": [],\n  "b": {\n    "c": 1\n  }\n}'],
    ['{{ parseJSON `{"__proto__":1,"toString":2}` }}', 'map[__proto__:1 toString:2]'],
    ['{{ parseJSON "nope" }}', '1:4: the string is not JSON'],
    ['{{ slice "héllo" 1 3 }}{{ slice (split "," "a,b,c") 1 }}', 'él[b c]'],
    ['{{ slice "abc" 2 9 }}', '1:4: there is no part from 2 to 9: the length is 3'],
    ['{{ in (split "," "a,b") "b" }}{{ "b" | contains "a" }}{{ in "abc" "b" }}', 'truefalsetrue'],
    ['{{ containsAll (split "," "a,b") (split "," "b,a,c") }}', 'true'],
    ['{{ len "é" }}', '2'],
    // Texts
    ['{{ trim "x" "xxaxx" }}{{ trimSpace " b " }}{{ trimPrefix "p-" "p-c" }}{{ trimSuffix "-s" "d-s" }}', 'abcd'],
    ['{{ toTitle "two words" }} {{ toLower "ÄB" }}', 'Two Words äb'],
    ['{{ split "," "a,b" | join "+" }}', 'a+b'],
    ['{{ "a\\nb\\n" | indent 2 }}|', '  a\n  b\n|'],
    ['{{ "foo.bar" | regexReplaceAll "foo([.a-z]+)" "\x24{1}$1x$$" }}', '.bar$'],
    ['{{ "2024-05" | regexReplaceAll "(?P<year>[0-9]+)-(?P<month>[0-9]+)" "$month/$year" }}', '05/2024'],
    ['{{ "foo" | regexMatch "^f" }}', 'true'],
    ['{{ "foo" | regexMatch "[" }}', '1:12: "[": missing closing ]: `[`'],
    ['{{ base64Encode "hé?" }} {{ base64URLEncode "hé?" }} {{ base64Decode "aMOpPw==" }}', 'aMOpPw== aMOpPw== hé?'],
    ['{{ base64Decode "?" }}', '1:4: the string is not base64'],
    ['{{ urlquery "a b&c" }} {{ html `<a b="c">` }}', 'a+b%26c &lt;a b=&#34;c&#34;&gt;'],
    // Numbers
    ['{{ 5 | subtract 2 }} {{ 10 | divide 4 }} {{ 10.0 | divide 4 }} {{ modulo 2 5 }}', '3 2 2.5 1'],
    ['{{ divide 0 1 }}', '1:4: nothing can be divided by zero'],
    ['{{ add 9223372036854775807 1 }}', '1:4: the result does not fit 64 bits'],
    ['{{ minimum 2 5 }}{{ maximum 2.5 1 }}', '22.5'],
    ['{{ parseInt "08" }} {{ parseFloat "1.5" }} {{ parseBool "T" }}', '8 1.5 true'],
    ['{{ parseInt "x" }}', '1:4: "x" is not a whole number of 64 bits'],
    // Printing
    ['{{ print 1 2 "a" 3 }}{{ println "b" 4 }}', '1 2a3b 4\n'],
    [
      '{{ printf "%d|%05d|%-4s|%4s|%q|%x|%X|%t|%.2f|%v|%%" 1 42 "ab" "c" "d" 255 "hi" true 1.5 "e" }}',
      '1|00042|ab  |   c|"d"|ff|6869|true|1.50|e|%',
    ],
    ['{{ printf "%d" "x" }}', '1:4: printf: %d does not accept a string'],
    ['{{ printf "%s" 5 }}', '1:4: printf: %s does not accept a whole number'],
    ['{{ print nil 3 (parseJSON `{}`).x }}|{{ println nil }}', '<nil> 3 <nil>|<nil>\n'],
    ['{{ print (nomadVar "app/flags") }}{{ print .x (nomadVar "app/db").user 1 }}', '&map[on:true]<nil> svc 1'],
    // Floats
    ['{{ 1e6 }} {{ 123456.7 }} {{ 12345678.9 }} {{ -0.0 }}', '1e+06 123456.7 1.23456789e+07 -0'],
    ['{{ (parseJSON `{"port":1048576}`).port }}', '1.048576e+06'],
    ['{{ parseJSON `[1048576,1e21,1e-7]` | toJSON }}', '[1048576,1e+21,1e-7]'],
    ['{{ 0x1p-2 }} {{ 0x_1f }} {{ 1_0.5 }} {{ .5 }} {{ 5. }}', '0.25 31 10.5 0.5 5'],
    ['{{ minimum 1.5 1 | divide 7.0 }} {{ maximum 1.0 3 | modulo 2 }}', '0.14285714285714285 1'],
    // Texts, as the upstream reads and writes them
    ['{{ toUpper "straße ŉ ᾳ" }} {{ toLower "ΑΣ İ" }}', 'STRAßE ŉ ᾼ ασ i'],
    [`{{ toTitle "don't ǆ ﬁ 1e3 ßa a.b ა" }}`, "Don't ǅ Fi 1E3 Ssa A.b ა"],
    ['{{ split "," " a,b\\n" }}', '[a b]'],
    ['{{ parseInt "" }}{{ parseUint "" }}{{ parseFloat "" }}{{ parseBool "" }}', '000false'],
    ['{{ "a,b,,c" | regexReplaceAll "b*" "-" }}', '-a-,-,-,-c-'],
    ['{{ html 1 2 "<" nil }}|{{ urlquery "a b" 1 2 }}', '1 2&lt;&lt;no value&gt;|a+b1+2'],
    ['{{ base64URLDecode "+/8=" }}', '1:4: the string is not base64'],
    ['{{ base64Decode "/+8=" }}', '1:4: the bytes are not UTF-8'],
    ['{{ range loop "2" }}{{ . }}{{ end }}', '01'],
    ['{{ loop "x" }}', '1:4: loop takes whole numbers'],
    ['{{ in (parseJSON `[true,1]`) true }}{{ in (parseJSON `[true,1]`) 1.0 }}{{ in "a1" 1 }}', 'falsetruefalse'],
    ['{{ range $i, $v := 3 }}{{ end }}', '1:4: a range over a whole number sets one variable'],
    ['{{ .name.first }}|{{ $.x }}', '<no value>|<no value>'],
    // Variables of the store
    ['{{ range (nomadVar "app/db").Tuples }}{{ .K }}={{ .V }};{{ end }}', 'password=p w;user=svc;'],
    ['{{ (nomadVar "app/db").Tuples }}', '[{password p w} {user svc}]'],
    ['{{ (nomadVar "app/flags").Tuples | toJSON }}', '[{"K":"on","V":"true"}]'],
    ['{{ (nomadVar "app/db").ItemsMap | toJSON }}', '{"password":"p w","user":"svc"}'],
    ['[{{ (nomadVar "app/db").nope }}{{ index (nomadVar "app/db") "nope" }}]', '[]'],
    ['{{ if (nomadVar "app/db").nope }}an item is true{{ end }}', 'an item is true'],
    ['{{ if (nomadVar "app/db").nope.Value }}{{ else }}a text may be empty{{ end }}', 'a text may be empty'],
    ['{{ (nomadVar " app/db/ ").user }}', 'svc'],
    ['{{ with nomadVar "app/db" }}{{ .user }}:{{ .password.Value }}{{ end }}', 'svc:p w'],
    ['{{ range $k, $v := nomadVar "app/db" }}{{ $k }}={{ $v }};{{ end }}', 'password=p w;user=svc;'],
    ['{{ (nomadVar "app/db").Keys }} {{ (nomadVar "app/db").Values }}', '[password user] [p w svc]'],
    ['{{ range (nomadVar "app/db").Tuples }}{{ .Key }},{{ end }}', 'password,user,'],
    ['{{ nomadVar "app/db" | toJSON }}', '{"password":"p w","user":"svc"}'],
    ['{{ (nomadVar "/other@prod").key }}', 'of prod'],
    ['{{ range nomadVarList "app" }}{{ .Path }} {{ end }}', 'app/db app/flags '],
    ['{{ if nomadVarExists "app/db" }}yes{{ end }}{{ if nomadVarExists "x" }}no{{ end }}', 'yes'],
    ['{{ nomadVar "a@b@c" }}', '1:4: a variable path is needed, such as a/b, or a/b@NAMESPACE for another namespace'],
  ])('%s', (source, expected) => {
    expect(render(source)).toBe(expected);
  });

  it.each([
    [
      '%d|%+d|% d|%x|%#x|%o|%#o|%O|%b|%#b|%c|%q|%U|%#U',
      '65 65 65 255 255 8 8 8 5 5 233 39 233 233',
      "65|+65| 65|ff|0xff|10|010|0o10|101|0b101|é|'\\''|U+00E9|U+00E9 'é'",
    ],
    [
      '%5d|%-5d|%05d|%-05d|%+05d|%.3d|%8.3d|%08.3d|%#06x|%.0d|',
      '7 7 7 7 7 7 -7 7 255 0',
      '    7|7    |00007|7    |+0007|007|    -007|     007|0x0000ff||',
    ],
    [
      '%f|%.2f|%.0f|%.0f|%8.1f|%-8.1f|%08.1f|%+.1f|%#.0f',
      '1.5 0.125 2.5 3.5 1.25 1.25 -1.25 1.0 3.0',
      '1.500000|0.12|2|4|     1.2|1.2     |-00001.2|+1.0|3.',
    ],
    [
      '%e|%.2E|%g|%G|%.3g|%.10g|%#g|%g|%6.2v|%v',
      '1234.5 0.00012 1e21 1e-7 1234.5 0.1 100.0 1e5 3.14159 1e308',
      '1.234500e+03|1.20E-04|1e+21|1E-07|1.23e+03|0.1|100.000|100000|   3.1|1e+308',
    ],
    [
      '%s|%5s|%-5s|%.1s|%05s|%q|%+q|%#q|%.1q|%x|% x|%#x|% #X',
      '"é" "é" "é" "éa" "é" "é\\n\\x07" "é" "a" "ab" "é" "é" "é" "é"',
      'é|    é|é    |é|0000é|"é\\n\\a"|"\\u00e9"|`a`|"a"|c3a9|c3 a9|0xc3a9|0XC3 0XA9',
    ],
    [
      '%t|%6t|%v|%-6v|%5v|%+v|%08.3f',
      'true false true false nil 5 1e100',
      'true| false|true|false |<nil>|5|10000000000000000159028911097599180468360808563945281389781327557747838772170381060813469985856815104.000',
    ],
    [
      '%v|%3v|%s|%q|%x',
      '(split "," "a,b") (parseJSON `[1,null,"x"]`) (split "," "a,b") (split "," "a,b") (parseJSON `{"k":"v"}`)',
      '[a b]|[  1 <nil>   x]|[a b]|["a" "b"]|map[6b:76]',
    ],
    ['%v|%s', '(nomadVar "app/flags") (nomadVar "app/flags").on', '&map[on:true]|true'],
  ])('prints %s', (format, values, expected) => {
    expect(render(`{{ printf \`${format}\` ${values} }}`)).toBe(expected);
  });

  it('fails for names that a map does not have when asked to', () => {
    expect(render('{{ (parseJSON `{}`).a }}', { failsWithoutKey: true })).toBe('1:4: there is no "a" in the map');
    expect(render('{{ .a }}', { failsWithoutKey: true })).toBe('1:4: there is no data here, so no "a"');
  });

  it('tells what it read, and what it waits for', () => {
    const source =
      '{{ nomadVar "app/db" }}{{ nomadVar "nope" }}{{ nomadVarExists "maybe" }}{{ nomadVarList "app" }}{{ nomadVar "nope" }}';
    const rendering = parseTemplate(source)._unsafeUnwrap().render(inputs)._unsafeUnwrap();
    expect(rendering.variables).toEqual([{ path: 'app/db' }, { path: 'nope' }, { path: 'maybe' }]);
    expect(rendering.prefixes).toEqual([{ path: 'app' }]);
    expect(rendering.missing).toEqual([{ path: 'nope' }]);
  });

  it('does not tell what stands in a branch that is not taken', () => {
    const template = parseTemplate('{{ if false }}{{ nomadVar "app/db" }}{{ end }}')._unsafeUnwrap();
    expect(template.render(inputs)._unsafeUnwrap().variables).toEqual([]);
  });

  it('renders the same template again with other inputs', () => {
    const template = parseTemplate('{{ $x := env "HOME" }}{{ $x }}')._unsafeUnwrap();
    expect(template.render(inputs)._unsafeUnwrap().text).toBe('/home/svc');
    expect(template.render({ ...inputs, env: { HOME: '/' } })._unsafeUnwrap().text).toBe('/');
  });
});

/* Messages become events of the task, which more people may read than the variables. */
describe('a message about a value that is not written in the template', () => {
  it.each([
    [
      '{{ with nomadVar "app/db" }}{{ .password | parseInt }}{{ end }}',
      '1:44: the string is not a whole number of 64 bits',
    ],
    ['{{ with nomadVar "app/db" }}{{ parseBool .password }}{{ end }}', '1:32: the string is not a truth value'],
    ['{{ with nomadVar "app/db" }}{{ print "[" .user | parseFloat }}{{ end }}', '1:50: the string is not a number'],
    ['{{ with nomadVar "app/db" }}{{ "x" | regexMatch (print "[" .password) }}{{ end }}', '1:38: the pattern is no'],
    [
      '{{ with nomadVar "app/db" }}{{ "x" | regexReplaceAll (print "(" .user) "y" }}{{ end }}',
      '1:38: the pattern is no',
    ],
    ['{{ with nomadVar "app/db" }}{{ mustEnv .password }}{{ end }}', '1:32: the environment has no such name'],
    ['{{ index (split "," "a,b") (env "COUNT" | parseInt) }}', '1:4: the list has no such place: it has 2 items'],
    ['{{ slice "ab" 1 (env "COUNT" | parseInt) }}', '1:4: there is no such part: the length is 2'],
  ])('does not quote it: %s', (source, message) => {
    const told = render(source);
    expect(told).toContain(message);
    for (const secret of ['p w', 'svc', '3']) expect(told.replace(/^[0-9:]+/, '')).not.toContain(secret);
  });

  it('quotes what is written there', () => {
    expect(render('{{ index (split "," "a,b") 5 }}')).toBe('1:4: the list has no place 5: it has 2 items');
  });
});
