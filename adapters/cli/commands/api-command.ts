import { type Command, command, option } from '../command-line/command.js';
import { Stopped } from '../stopped.js';
import { passOn } from './print.js';

/** Sends any request, for API calls without a command. */
export const sendRequest: Command = command({
  usage: 'operator api PATH',
  summary: "send a request to a path such as /v1/jobs and print the answer's body; exit code 1 when it is refused",
  raw: true,
  options: {
    X: option.text('METHOD', 'the method (GET, or POST with a body)'),
    d: option.text('BODY', 'the body; @FILE reads a file, - reads standard input'),
    H: option.list('NAME: VALUE', 'a header, may be repeated'),
    filter: option.text('EXPRESSION', 'only entries of a list that match'),
  },
  run: async ({ options, terminal, inNamespace, send }, given = '') => {
    const body = await bodyFrom(options.d, terminal.read);
    const method = (options.X ?? (body === undefined ? 'GET' : 'POST')).toUpperCase();
    if (!/^[A-Z]{1,20}$/.test(method)) throw new Stopped('-X takes a method such as PUT', 2);
    if (body !== undefined && method === 'GET')
      throw new Stopped('a GET request has no body: omit -d, or set the method with -X', 2);
    const path = pathWith(given, {
      ...inNamespace,
      ...(options.filter === undefined ? {} : { filter: options.filter }),
    });
    const answer = await send(path, {
      method,
      headers: Object.fromEntries(options.H.map(headerFrom)),
      ...(body === undefined ? {} : { body }),
    });
    if (answer.body !== null) await passOn(terminal, answer.body);
    if (answer.ok) return 0;
    terminal.error(`signalbox: the server answered ${answer.status}\n`);
    return 1;
  },
});

function bodyFrom(data: string | undefined, read: (path: string) => Promise<string>): Promise<string> | undefined {
  if (data === undefined) return undefined;
  if (data === '-') return read('-');
  return data.startsWith('@') ? read(data.slice(1)) : Promise.resolve(data);
}

function headerFrom(text: string): [string, string] {
  const [, name, value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*([\t\x20-\x7e]*)$/.exec(text) ?? [];
  if (name === undefined) throw new Stopped(`-H takes NAME: VALUE, not ${JSON.stringify(text.slice(0, 40))}`, 2);
  return [name.toLowerCase(), value];
}

/** The path with these parameters added, unless it already has them. */
function pathWith(given: string, parameters: Readonly<Record<string, string>>): string {
  const [path = '', query = ''] = given.split(/\?(.*)/s);
  if (/^[a-z]+:/i.test(path)) throw new Stopped('PATH is the part after the address, such as /v1/jobs', 2);
  const search = new URLSearchParams(query);
  const added = Object.entries(parameters).filter(([name]) => !search.has(name));
  const whole = [
    ...(query === '' ? [] : [query]),
    ...added.map(([name, value]) => `${name}=${encodeURIComponent(value)}`),
  ];
  return `${path.startsWith('/') ? '' : '/'}${path}${whole.length === 0 ? '' : `?${whole.join('&')}`}`;
}
