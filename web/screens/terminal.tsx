import { FitAddon } from '@xterm/addon-fit';
import { type ITheme, Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import type { ResultAsync } from 'neverthrow';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { MessageSocket } from 'signalbox/client';
import { box, type Failure, messageOf, type ValueOf } from '../app/engine.js';
import { useRead } from '../app/read.js';
import { mayRunInTasks } from '../app/rights.js';
import { addressOf, navigate } from '../app/router.js';
import { allowStyles } from '../parts/allowed-styles.js';
import { Choice, FailureNote } from '../parts/form.js';
import { save } from '../parts/save.js';
import { Copy, Text } from '../parts/text.js';
import { View } from '../parts/view.js';
import { commandWords, withKeys } from '../rules/command-words.js';
import { durationText } from '../rules/durations.js';
import { TerminalInput } from '../rules/terminal-input.js';

/** Lines of output that the terminal keeps above its screen. */
const mostLines = 10_000;

interface Session {
  readonly state: 'opening' | 'running' | 'ended';
  /** Absent when the connection ended before the command. */
  readonly exitCode?: number | undefined;
  /** In milliseconds. */
  readonly took?: number;
  readonly failure?: string;
}

type Outcome = Pick<Session, 'exitCode' | 'failure'>;

const shells = ['/bin/sh', '/bin/bash'];

interface ExecProps {
  readonly id: string;
  readonly namespace: string;
  readonly task: string;
  readonly tasks: readonly string[];
}

/** A shell or a command line in a task. */
export function ExecTab({ id, namespace, task, tasks }: ExecProps) {
  const [shell, setShell] = useState(shells[0] ?? '');
  const [line, setLine] = useState('');
  const words = shell === '' ? commandWords(line) : [shell];
  return (
    <CommandPanel
      namespace={namespace}
      name={task}
      verbs={['Connect', 'Reconnect']}
      open={
        words === undefined || words.length === 0
          ? undefined
          : (tty, signal) =>
              box.allocations.exec(id, { namespace, task, command: JSON.stringify(words), tty: String(tty), signal })
      }
      hint={words === undefined && <p class="notice failed">A quote of the command line is not closed.</p>}
    >
      {(isLive) => (
        <>
          <Choice
            label="Task"
            value={task}
            disabled={isLive}
            change={(chosen) => navigate(addressOf(['allocs', id, 'exec', chosen]))}
            options={tasks}
          />
          <Choice
            label="Command"
            value={shell}
            disabled={isLive}
            change={setShell}
            options={[...shells, ['', 'another command']]}
          />
          {shell === '' && (
            <label>
              <span class="sr">Command line</span>
              <input
                class="mono"
                placeholder="/bin/ls -l"
                spellcheck={false}
                autocomplete="off"
                value={line}
                disabled={isLive}
                aria-invalid={words === undefined}
                onInput={(event) => setLine(event.currentTarget.value)}
              />
            </label>
          )}
        </>
      )}
    </CommandPanel>
  );
}

interface ActionsProps {
  readonly namespace: string;
  readonly jobId: string;
  /** Where an action can run. */
  readonly allocations: readonly { readonly id: string; readonly group: string; readonly name: string }[];
}

/** The actions that a job declares, to run in one of the allocations. */
export function ActionsTab({ namespace, jobId, allocations }: ActionsProps) {
  const actions = useRead(`actions:${namespace}/${jobId}`, {
    topics: ['Job'],
    read: ({ signal }) => box.jobs.actions(jobId, { namespace, signal }),
  });
  const isHere = ({ TaskGroupName }: Action): boolean => allocations.some(({ group }) => group === TaskGroupName);
  return (
    <View
      reading={actions}
      what="the actions"
      needs={`read-job in ${namespace}`}
      isEmpty={(list) => !list.some(isHere)}
      empty={<p>The job declares no actions for what is running.</p>}
    >
      {(list) => (
        <ActionForm namespace={namespace} jobId={jobId} allocations={allocations} actions={list.filter(isHere)} />
      )}
    </View>
  );
}

type Action = ValueOf<typeof box.jobs.actions>[number];

function ActionForm({
  namespace,
  jobId,
  allocations,
  actions,
}: ActionsProps & { readonly actions: readonly Action[] }) {
  const [chosen, setChosen] = useState(0);
  const [wanted, setWanted] = useState('');
  const action = actions[chosen] ?? actions[0];
  if (action === undefined) return null;
  const places = allocations.filter(({ group }) => group === action.TaskGroupName);
  const place = places.find(({ id }) => id === wanted) ?? places[0];
  const words = [action.Command, ...(action.Args ?? [])];
  return (
    <CommandPanel
      namespace={namespace}
      name={action.Name}
      verbs={['Run', 'Run again']}
      open={
        place &&
        ((tty, signal) =>
          box.jobs.runAction(jobId, {
            ...{ namespace, allocationId: place.id, task: action.TaskName, action: action.Name },
            ...{ tty: String(tty), signal },
          }))
      }
      hint={
        <p>
          <code>
            <Text of={words.join(' ')} />
          </code>
        </p>
      }
    >
      {(isLive) => (
        <>
          <Choice
            label="Action"
            value={actions.indexOf(action)}
            disabled={isLive}
            change={(at) => setChosen(Number(at))}
            options={actions.map(({ Name, TaskName }, at) => [at, `${Name} in ${TaskName}`])}
          />
          {places.length > 1 && (
            <Choice
              label="Allocation"
              value={place?.id}
              disabled={isLive}
              change={setWanted}
              options={places.map(({ id, name }) => [id, name])}
            />
          )}
        </>
      )}
    </CommandPanel>
  );
}

interface CommandProps {
  readonly namespace: string;
  /** In the name of the saved file. */
  readonly name: string;
  /** On the button at first, and after a command. */
  readonly verbs: readonly [string, string];
  /** Undefined while what was entered is no command. */
  readonly open: ((tty: boolean, signal: AbortSignal) => ResultAsync<MessageSocket, Failure>) | undefined;
  readonly hint: ComponentChildren;
  /** The fields that choose the command. */
  readonly children: (isLive: boolean) => ComponentChildren;
}

/** A command in a task, in a terminal or with plain input and output, with its exit code and duration. */
function CommandPanel({ namespace, name, verbs, open, hint, children }: CommandProps) {
  const [isTty, setTty] = useState(true);
  const [isRead, setRead] = useState(false);
  const [session, setSession] = useState<Session | undefined>(undefined);
  const [isSelected, setSelected] = useState(false);
  const [refusal, setRefusal] = useState('');
  const host = useRef<HTMLDivElement>(null);
  const before = useRef<HTMLButtonElement>(null);
  const after = useRef<HTMLButtonElement>(null);
  const screen = useRef<Screen | undefined>(undefined);
  const running = useRef<AbortController | undefined>(undefined);

  useEffect(() => {
    if (host.current === null) return;
    const opened = openScreen(host.current, () => before.current?.focus());
    screen.current = opened;
    opened.terminal.onSelectionChange(() => setSelected(opened.terminal.hasSelection()));
    return () => {
      running.current?.abort();
      opened.dispose();
    };
  }, []);
  useEffect(() => {
    if (screen.current !== undefined) screen.current.terminal.options.screenReaderMode = isRead;
  }, [isRead]);

  const isLive = session !== undefined && session.state !== 'ended';
  const run = async (): Promise<void> => {
    const shown = screen.current;
    if (shown === undefined || open === undefined) return;
    const abort = new AbortController();
    running.current = abort;
    setSession({ state: 'opening' });
    setRefusal('');
    const since = performance.now();
    const opened = await open(isTty, abort.signal);
    if (opened.isErr()) return setSession({ state: 'ended', failure: messageOf(opened.error) });
    setSession({ state: 'running' });
    shown.terminal.reset();
    shown.terminal.focus();
    const { signal } = abort;
    const closed = async (): Promise<Outcome> => {
      const exitCode = await converse(opened.value, shown.terminal, { isTty, refused: setRefusal, signal });
      const { reason } = await opened.value.closed;
      if (exitCode !== undefined || signal.aborted) return { exitCode };
      return { exitCode, failure: reason || 'The connection ended before the command.' };
    };
    const outcome = await Promise.race([closed(), notClosed(signal)]);
    // Another session may have begun after the component ended this one.
    if (running.current !== abort) return;
    setSession({ state: 'ended', took: performance.now() - since, ...outcome });
  };

  return (
    <section class="panel" aria-label="Command in the task">
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        {children(isLive)}
        <label>
          <input
            type="checkbox"
            checked={isTty}
            disabled={isLive}
            onChange={(event) => setTty(event.currentTarget.checked)}
          />
          In a terminal
        </label>
        <label>
          <input type="checkbox" checked={isRead} onChange={(event) => setRead(event.currentTarget.checked)} />
          For screen readers
        </label>
        {isLive ? (
          <button type="button" onClick={() => running.current?.abort()}>
            End it
          </button>
        ) : (
          <button type="submit" class="primary" disabled={open === undefined || !mayRunInTasks(namespace)}>
            {verbs[session === undefined ? 0 : 1]}
          </button>
        )}
      </form>
      {!mayRunInTasks(namespace) && (
        <p class="notice">
          Commands in tasks need <code>alloc-exec</code> and <code>alloc-node-exec</code> in <Text of={namespace} />.
        </p>
      )}
      {hint}
      <p role="status">{statusOf(session)}</p>
      <FailureNote of={session?.failure ?? refusal} />
      <p class="hint">
        <button type="button" ref={before} onClick={() => after.current?.focus()}>
          Go past the terminal
        </button>{' '}
        The terminal takes all keys; <kbd>Shift F6</kbd> leaves it for this button.
      </p>
      <div class="terminal-frame" ref={host} />
      <div class="toolbar">
        <button type="button" ref={after} onClick={() => save(outputOf(screen.current), fileName(name))}>
          Save the output
        </button>
        <Copy value={() => outputOf(screen.current)} what="the output" label="Copy the output" />
        {isSelected && (
          <Copy
            value={() => screen.current?.terminal.getSelection() ?? ''}
            what="the selection"
            label="Copy the selection"
          />
        )}
        <span class="hint">The newest {mostLines.toLocaleString('en')} lines are kept.</span>
      </div>
    </section>
  );
}

function statusOf(session: Session | undefined): string {
  if (session === undefined) return 'Not connected';
  if (session.state === 'opening') return 'Connecting';
  if (session.state === 'running') return 'Running';
  const took = session.took === undefined ? '' : ` after ${durationText(session.took)}`;
  return session.exitCode === undefined ? `Ended${took}` : `Exit code ${session.exitCode}${took}`;
}

interface Screen {
  readonly terminal: Terminal;
  readonly dispose: () => void;
}

/** A terminal in the colours of the page, as large as the element. */
function openScreen(host: HTMLElement, leave: () => void): Screen {
  const forbidStyles = allowStyles();
  const terminal = new Terminal({
    scrollback: mostLines,
    fontFamily: getComputedStyle(host).fontFamily,
    fontSize: 13,
    minimumContrastRatio: 4.5,
    theme: coloursOf(host),
    linkHandler: { activate: () => undefined },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  // What a task writes changes neither the title nor the clipboard nor colours, and makes no links.
  for (const code of [0, 1, 2, 4, 8, 10, 11, 12, 52, 104, 110, 111, 112])
    terminal.parser.registerOscHandler(code, () => true);
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.key !== 'F6' || !event.shiftKey) return true;
    event.preventDefault();
    if (event.type === 'keydown') leave();
    return false;
  });
  terminal.open(host);
  fit.fit();
  const size = new ResizeObserver(() => fit.fit());
  size.observe(host);
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  const paint = (): void => {
    terminal.options.theme = coloursOf(host);
  };
  scheme.addEventListener('change', paint);
  return {
    terminal,
    dispose: () => {
      scheme.removeEventListener('change', paint);
      size.disconnect();
      terminal.dispose();
      forbidStyles();
    },
  };
}

/** The colours of the page, as values. */
function coloursOf(host: HTMLElement): ITheme {
  const probe = document.createElement('span');
  host.append(probe);
  const colour = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const [red, green, yellow, blue, magenta] = ['failed', 'good', 'waiting', 'running', 'lost'].map(colour);
  const [foreground, background, dim, accent] = ['text', 'surface', 'secondary', 'accent'].map(colour);
  const selectionBackground = colour('edge');
  probe.remove();
  const names = { red, green, yellow, blue, magenta, cyan: accent, black: foreground, white: dim };
  const bright = {
    brightRed: red,
    brightGreen: green,
    brightYellow: yellow,
    brightBlue: blue,
    brightMagenta: magenta,
    brightCyan: accent,
    brightBlack: dim,
    brightWhite: foreground,
  };
  const given = { ...names, ...bright, foreground, background, cursor: foreground, selectionBackground };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

interface Frame {
  readonly stdout?: { readonly data?: string };
  readonly stderr?: { readonly data?: string };
  readonly exited?: boolean;
  readonly result?: { readonly exit_code?: number };
}

/** Milliseconds within which a connection closes. It does not while the command reads no input: what is on its way goes first. */
const closingTime = 2000;

function notClosed(signal: AbortSignal): Promise<Outcome> {
  const failure = 'The connection does not close, and the command may still run: it does not read its input.';
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => setTimeout(() => resolve({ failure }), closingTime)),
  );
}

interface Conversation {
  /** Aborts when no more keys are taken. */
  readonly signal: AbortSignal;
  readonly isTty: boolean;
  /** Called with the reason why keys or a paste were not sent, and with an empty string when the next ones are. */
  readonly refused: (refusal: string) => void;
}

/** Exchanges keys, sizes and output with the command. Returns its exit code; undefined when the socket ended first. */
async function converse(
  socket: MessageSocket,
  terminal: Terminal,
  { isTty, refused, signal }: Conversation,
): Promise<number | undefined> {
  const encoder = new TextEncoder();
  const send = (frame: object): Promise<boolean> => socket.send(JSON.stringify(frame));
  const input = new TerminalInput();
  let isSending = false;
  /** Sends what waits, each part when the connection has room for it. */
  const flush = async (): Promise<void> => {
    if (isSending) return;
    isSending = true;
    for (let part = input.next(); part !== undefined; part = input.next())
      await send({ stdin: part === 'end' ? { close: true } : { data: base64Of(part) } });
    isSending = false;
  };
  const takes = (bytes: number): boolean => {
    const refusal = input.refusalOf(bytes);
    refused(refusal ?? '');
    return refusal === undefined;
  };
  const sendBytes = (bytes: Uint8Array): void => {
    if (!takes(bytes.length)) return;
    input.add(bytes);
    void flush();
  };
  const sendSize = (): void => void send({ tty_size: { height: terminal.rows, width: terminal.cols } });
  let line = '';
  const sendLine = (keys: string): void => {
    if (!takes(encoder.encode(line + keys).length)) return;
    const typed = withKeys(line, keys);
    ({ line } = typed);
    terminal.write(typed.shown);
    input.add(encoder.encode(typed.sent));
    if (typed.ends) input.end();
    void flush();
  };
  const subscribed = [
    terminal.onData((keys) => (isTty ? sendBytes(encoder.encode(keys)) : sendLine(keys))),
    terminal.onBinary((keys) => sendBytes(Uint8Array.from(keys, (unit) => unit.charCodeAt(0)))),
    ...(isTty ? [terminal.onResize(sendSize)] : []),
  ];
  const unsubscribe = (): void => {
    for (const each of subscribed) each.dispose();
  };
  signal.addEventListener('abort', unsubscribe);
  // Programs that are not in a terminal end lines with a line feed only.
  terminal.options.convertEol = !isTty;
  if (isTty) sendSize();
  try {
    for await (const message of socket.messages) {
      const frame = JSON.parse(String(message)) as Frame;
      const data = frame.stdout?.data ?? frame.stderr?.data;
      if (data !== undefined)
        await written(
          terminal,
          Uint8Array.from(atob(data), (unit) => unit.charCodeAt(0)),
        );
      if (frame.exited === true) return frame.result?.exit_code ?? 0;
    }
    return undefined;
  } finally {
    unsubscribe();
    socket.close();
  }
}

/** Output is read as fast as it is shown. */
function written(terminal: Terminal, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => terminal.write(bytes, resolve));
}

function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

const fileName = (name: string): string => `${name.replaceAll(/[^\w.-]+/g, '-')}.output.txt`;

/** The text of the terminal with the lines that have left its screen; wrapped lines are one. */
function outputOf(screen: Screen | undefined): string {
  const buffer = screen?.terminal.buffer.normal;
  let text = '';
  for (let at = 0; buffer !== undefined && at < buffer.length; at++) {
    const row = buffer.getLine(at);
    const isContinued = buffer.getLine(at + 1)?.isWrapped === true;
    text += `${row?.translateToString(!isContinued) ?? ''}${isContinued ? '' : '\n'}`;
  }
  return `${text.trimEnd()}\n`;
}
