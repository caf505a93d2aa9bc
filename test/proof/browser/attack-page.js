// Runs in a page of somebody else: everything that it can send to another origin, and whether it learns anything.
globalThis.attack = async ({ review, body }) => {
  const load = (name, attributes) =>
    new Promise((resolve) => {
      const element = Object.assign(document.createElement(name), attributes);
      for (const event of ['load', 'loadedmetadata']) element.addEventListener(event, () => resolve('loaded'));
      element.addEventListener('error', () => resolve('error'));
      document.body.append(element);
    });
  const ask = (path, init) =>
    fetch(`${review}${path}`, init).then(
      async (answer) => `${answer.type} ${answer.status} ${(await answer.text()).length}`,
      () => 'error',
    );
  const post = (type, mode) =>
    ask('verdicts', { method: 'POST', mode, body, headers: { 'content-type': type }, credentials: 'include' });
  const form = (enctype) =>
    new Promise((resolve) => {
      const frame = Object.assign(document.createElement('iframe'), { name: `frame ${enctype}` });
      document.body.append(frame);
      const target = { action: `${review}verdicts`, method: 'post', enctype, target: frame.name };
      const element = Object.assign(document.createElement('form'), target);
      element.append(Object.assign(document.createElement('input'), { name: body, value: '' }));
      document.body.append(element);
      frame.addEventListener('load', () => resolve('sent'));
      element.submit();
    });
  const listen = () =>
    new Promise((resolve) => {
      const source = new EventSource(`${review}changes`);
      for (const event of ['message', 'change']) source.addEventListener(event, () => resolve('heard'));
      source.addEventListener('error', () => resolve('error'));
    });
  const named = {
    corsJson: post('application/json', 'cors'),
    corsText: post('text/plain', 'cors'),
    noCorsText: post('text/plain', 'no-cors'),
    noCorsJson: post('application/json', 'no-cors'),
    formText: form('text/plain'),
    formFields: form('application/x-www-form-urlencoded'),
    formParts: form('multipart/form-data'),
    beacon: navigator.sendBeacon(`${review}verdicts`, body),
    data: ask('data.json', { mode: 'cors' }),
    dataBlind: ask('data.json', { mode: 'no-cors' }),
    image: load('img', { src: `${review}media/0` }),
    imageWithCors: load('img', { crossOrigin: 'anonymous', src: `${review}media/0` }),
    small: load('img', { src: `${review}thumb/0` }),
    script: load('script', { src: `${review}page.js` }),
    dataAsScript: load('script', { src: `${review}data.json` }),
    style: load('link', { rel: 'stylesheet', href: `${review}page.css` }),
    video: load('video', { src: `${review}media/0` }),
    object: load('object', { data: `${review}media/0` }),
    events: listen(),
  };
  const results = await Promise.all(Object.entries(named).map(async ([name, what]) => [name, await what]));
  return Object.fromEntries(results);
};
