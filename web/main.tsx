import { render } from 'preact';
import { connect } from 'signalbox/client';

const box = connect({ url: new URL('..', document.baseURI).href, headers: { 'X-SVC-Session': '1' } });
render(<main><h1>Signalbox</h1><button type="button" onClick={() => void box.jobs.list({})}>x</button></main>, document.querySelector('#page') ?? document.body);
