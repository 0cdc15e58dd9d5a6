interface ExampleOptions {
  /** How the command line was started. */
  readonly program: string;
  /** The first workspace of the seed file. */
  readonly workspace?: string | undefined;
  /** Where the notification interface is mounted; `/` when absent or empty. */
  readonly base?: string;
  /** The secret of a token or a placeholder for it; absent if callers need none. */
  readonly token?: string | undefined;
}

/**
 * Three requests that work as printed against a new server, and with a workspace three commands after which a
 * first webhook has been delivered to this host.
 */
export function exampleRequests(origin: string, options: ExampleOptions): string {
  const { token, workspace } = options;
  const authorised = token === undefined ? '' : ' -H "Authorization: Bearer $SIGNALBOX_TOKEN"';
  const job = {
    ID: 'hello',
    Type: 'batch',
    TaskGroups: [
      {
        Name: 'greet',
        Tasks: [
          {
            Name: 'greet',
            Driver: 'raw_exec',
            Config: { command: '/bin/echo', args: ['hello'] },
            Resources: { CPU: 20, MemoryMB: 16 },
          },
        ],
      },
    ],
  };
  const body = JSON.stringify({ Job: job });
  return [
    'try:',
    ...(token === undefined ? [] : [`  export SIGNALBOX_TOKEN=${token}`]),
    `  curl -s${authorised} -X POST -H 'Content-Type: application/json' -d '${body}' ${origin}/v1/jobs`,
    `  curl -s${authorised} '${origin}/v1/job/hello/allocations?pretty'`,
    `  curl -s${authorised} '${origin}/v1/jobs?pretty'`,
    ...(workspace === undefined ? [] : firstWebhook(origin, workspace, options)),
    '',
  ].join('\n');
}

function firstWebhook(
  origin: string,
  workspace: string,
  { program, base = '', token }: ExampleOptions,
): readonly string[] {
  const address = origin === 'http://127.0.0.1:4646' ? '' : ` --address ${origin}`;
  const server = `${address}${base === '' || base === '/' ? '' : ` --notifications-base ${base}`}`;
  return [
    `a first webhook, in another terminal${token === undefined ? '' : ' with SIGNALBOX_TOKEN'}:`,
    `  ${program} receive &`,
    `  ${program} notification put ${workspace} first http://127.0.0.1:4647 --trigger run:completed${server}`,
    `  ${program} event send ${workspace} run:completed --set run_id=run-1${server}`,
  ];
}
