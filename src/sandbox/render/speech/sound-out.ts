import { isPhoneName, type PhoneName } from './phones.ts';

/**
 * How letters sound in English, after the rules that the US Naval Research Laboratory published as Report 7948 (1976).
 * Each rule is `left[letters]right=phones`; the first rule of a letter that fits is used. Beside letters, the context
 * may hold: `_` an end of the word, `#` one or more vowels, `:` any number of consonants, `^` one consonant, `.` a
 * voiced consonant, `%` an ending (er, e, es, ed, ing, ely), `&` a hissing sound, `@` a consonant after which a long u
 * is plain, `+` a front vowel (e, i, y).
 */
const letterRules: Readonly<Record<string, string>> = {
  a: `
    [a]_=AX; _[are]_=AA R; _[ar]o=AX R; [ar]#=EH R; ^[as]#=EY S; [a]wa=AX; [aw]=AO; _:[any]=EH N IY; [a]^+#=EY;
    #:[ally]=AX L IY; _[al]#=AX L; [again]=AX G EH N; #:[ag]e=IH JH; [a]^+:#=AE; _:[a]^+_=EY; [a]^%=EY;
    _[arr]=AX R; [arr]=AE R; _:[ar]_=AA R; [ar]_=ER; [ar]=AA R; [air]=EH R; [ai]=EY; [ay]=EY; [au]=AO;
    #:[al]_=AX L; #:[als]_=AX L Z; [alk]=AO K; [all]_=AO L; [alf]=AE F; [alm]=AA M; [al]^=AO L; _:[able]=EY B AX L;
    [able]=AX B AX L; [ange]=EY N JH; [aste]=EY S T; [a]=AE`,
  b: '_[be]^#=B IH; [being]=B IY IH NG; _[both]_=B OW TH; _[bus]#=B IH Z; [buil]=B IH L; m[b]_=; [bb]=B; [b]=B',
  c: `
    _[ch]^=K; ^e[ch]=K; _[chara]=K EH R AX; [ch]=CH; _s[ci]#=S AY; [ci]a=SH; [ci]o=SH; [ci]en=SH; s[c]+=; [c]+=S;
    [ck]=K; [com]%=K AH M; [cc]+=K S; [cc]=K; [c]=K`,
  d: `
    #:[ded]_=D IH D; .e[d]_=D; #^:e[d]_=T; _[de]^#=D IH; _[do]_=D UW; _[does]=D AH Z; _[doing]=D UW IH NG;
    _[dow]=D AW; [dge]=JH; [du]a=JH UW; [dd]=D; [d]=D`,
  e: `
    #:[e]_=; _:[e]_=IY; #:[e]d_=; [eather]=EH DH ER; #:[er]%=ER; [ev]er=EH V; [e]^%=IY; [eri]#=IY R IY;
    [eri]=EH R IH; #:[er]#=ER; [er]#=EH R; [er]=ER; _[even]=IY V EH N; #:[e]w=; @[ew]=UW; [ew]=Y UW; [e]o=IY;
    #:&[es]_=IH Z; #:[e]s_=; #:[ely]_=L IY; #:[ement]=M EH N T; [eful]=F UH L; [ee]=IY; [earn]=ER N; _[ear]^=ER;
    [ead]=EH D; #:[ea]_=IY AX; [ea]su=EH; [ea]=IY; [eigh]=EY; [ei]=IY; _[eye]=AY; [ey]=IY; [eu]=Y UW; [e]=EH`,
  f: '[ful]=F UH L; [ff]=F; [f]=F',
  g: `
    [giv]=G IH V; _[g]i^=G; [ge]t=G EH; su[gges]=G JH EH S; [gg]=G; _b#[g]=G; [g]+=JH; [great]=G R EY T; #[gh]=;
    [gh]=G; _[gn]=N; [gue]_=G; [g]=G`,
  h: '_[hav]=HH AE V; _[here]=HH IY R; _[hour]=AW ER; [how]=HH AW; [h]#=HH; [h]=',
  i: `
    _[in]=IH N; _[i]_=AY; [ind]_=AY N D; [ier]=IY ER; #:r[ied]=IY D; [ied]_=AY D; [ien]=IY EH N; [ie]t=AY EH;
    _:[i]%=AY; [i]%=IY; [ie]=IY; [i]^+:#=IH; [ir]#=AY R; [iz]%=AY Z; [is]%=AY Z; [i]d%=AY; +^[i]^+=IH; [i]t%=AY;
    #:^[i]^+=IH; [i]^+=AY; [ir]=ER; [igh]=AY; [ild]_=AY L D; [ign]_=AY N; [ign]^=AY N; [ign]%=AY N; [ique]=IY K;
    [i]=IH`,
  j: '[j]=JH',
  k: '_[k]n=; [kk]=K; [k]=K',
  l: '[lo]c#=L OW; l[l]=; #^:[l]%=AX L; [lead]=L IY D; [l]=L',
  m: '[mov]=M UW V; [mm]=M; [m]=M',
  n: 'e[ng]+=N JH; [ng]r=NG G; [ng]#=NG G; [ngl]%=NG G AX L; [ng]=NG; [nk]=NG K; _[now]_=N AW; m[n]_=; [nn]=N; [n]=N',
  o: `
    [of]_=AX V; [orough]=ER OW; #:[or]_=ER; #:[ors]_=ER Z; [or]=AO R; _[one]=W AH N; [ow]_=OW; [own]_=OW N;
    [ow]=AW; _[over]=OW V ER; [ox]=AA K S; [ov]=AH V; [o]^%=OW; [o]^en=OW; [o]^i#=OW; [ol]d=OW L; [ought]=AO T;
    [ough]=AH F; _[ou]=AW; h[ou]s#=AW; [ous]=AX S; [our]=AO R; [ould]=UH D; ^[ou]^l=AH; [oup]=UW P; [ou]=AW;
    [oy]=OY; [oing]=OW IH NG; [oi]=OY; [oor]=AO R; [ook]=UH K; [ood]=UH D; [oo]=UW; [o]e=OW; [o]_=OW; [oa]=OW;
    _[only]=OW N L IY; _[once]=W AH N S; c[o]n=AA; [o]ng=AO; _:^[o]n=AH; i[on]=AX N; #:[on]_=AX N; #^[on]=AX N;
    [ost]_=OW S T; [of]^=AO F; [other]=AH DH ER; [oss]_=AO S; #^:[om]=AH M; [o]=AA`,
  p: '_[ps]=S; [ph]=F; [peop]=P IY P; [pow]=P AW; [put]_=P UH T; [pp]=P; [p]=P',
  q: '[quar]=K W AO R; [que]_=K; [qu]=K W; [q]=K',
  r: '_[re]^#=R IY; [rr]=R; [rh]=R; [r]=R',
  s: `
    [sh]=SH; #[sion]=ZH AX N; [some]=S AH M; #[sur]#=ZH ER; [sur]#=SH ER; #[su]#=ZH UW; #[ssu]#=SH UW; #[sed]_=Z D;
    #[s]#=Z; [said]=S EH D; ^[sion]=SH AX N; [ss]=S; .[s]_=Z; #:.e[s]_=Z; #^:##[s]_=Z; #^:#[s]_=S; u[s]_=S;
    _:#[s]_=Z; _[sch]=S K; [s]c+=; #[sm]=Z M; [s]=S`,
  t: `
    _[the]_=DH AX; [to]_=T UW; _[that]=DH AE T; _[this]_=DH IH S; _[they]=DH EY; _[there]=DH EH R; [ther]=DH ER;
    [their]=DH EH R; _[than]_=DH AE N; _[them]_=DH EH M; _[these]_=DH IY Z; _[then]=DH EH N; [through]=TH R UW;
    _[those]=DH OW Z; [though]_=DH OW; _[thus]=DH AH S; [th]=TH; #:[ted]_=T IH D; s[ti]#n=CH; [ti]o=SH; [ti]a=SH;
    [tien]=SH AX N; [tur]#=CH ER; [tu]a=CH UW; _[two]=T UW; [tch]=CH; s[t]en=; s[t]le=; [tt]=T; [t]=T`,
  u: `
    _[un]i=Y UW N; _[un]=AH N; _[upon]=AX P AO N; @[ur]#=UH R; [ur]#=Y UH R; [ur]=ER; [u]^_=AH; [u]^^=AH; [uy]=AY;
    _g[u]#=; g[u]%=; g[u]#=W; #n[u]=Y UW; @[u]=UW; [u]=Y UW`,
  v: '[view]=V Y UW; [v]=V',
  w: `
    _[were]=W ER; [wa]s=W AA; [wa]t=W AA; [where]=W EH R; [what]=W AH T; [whol]=HH OW L; [who]=HH UW; [wh]=W;
    [war]=W AO R; [wor]^=W ER; [wr]=R; [w]=W`,
  x: '_[x]=Z; [x]=K S',
  y: `
    [young]=Y AH NG; _[you]=Y UW; _[yes]=Y EH S; _[y]=Y; #^:[y]_=IY; #^:[y]i=IY; _:[y]_=AY; _:[y]#=AY;
    _:[y]^+:#=IH; _:[y]^#=AY; [y]=IH`,
  z: '[zz]=Z; [z]=Z',
};

/** Common words that the rules get wrong. Apostrophes are left out. */
const knownWords = `
  a=AX; am=AE M; an=AE N; and=AE N D; another=AX N AH DH ER; answer=AE N S ER; any=EH N IY;
  beautiful=B Y UW T AX F AX L; beauty=B Y UW T IY; been=B IH N; bicycle=B AY S IH K AX L; both=B OW TH;
  break=B R EY K; breakfast=B R EH K F AX S T; busy=B IH Z IY; campaign=K AE M P EY N; cant=K AE N T;
  change=CH EY N JH; color=K AH L ER; colour=K AH L ER; come=K AH M; coming=K AH M IH NG; country=K AH N T R IY;
  design=D IH Z AY N; do=D UW; does=D AH Z; done=D AH N; dont=D OW N T; early=ER L IY; earth=ER TH; every=EH V R IY;
  eye=AY; eyes=AY Z; family=F AE M AX L IY; father=F AA DH ER; find=F AY N D; four=F AO R; friend=F R EH N D;
  friends=F R EH N D Z; from=F R AH M; get=G EH T; give=G IH V; gone=G AO N; good=G UH D; great=G R EY T;
  group=G R UW P; half=HH AE F; has=HH AE Z; have=HH AE V; having=HH AE V IH NG; he=HH IY; heart=HH AA R T;
  hello=HH AX L OW; her=HH ER; his=HH IH Z; home=HH OW M; i=AY; idea=AY D IY AX; ill=IH L; im=AY M; image=IH M IH JH;
  into=IH N T UW; introduce=IH N T R AX D UW S; introducing=IH N T R AX D UW S IH NG; is=IH Z; island=AY L AX N D;
  its=IH T S; ive=AY V; know=N OW; laugh=L AE F; library=L AY B R EH R IY; light=L AY T; listen=L IH S AX N;
  little=L IH T AX L; live=L IH V; love=L AH V; machine=M AX SH IY N; make=M EY K; many=M EH N IY;
  media=M IY D IY AX; minute=M IH N AX T; minutes=M IH N AX T S; money=M AH N IY; morning=M AO R N IH NG;
  mother=M AH DH ER; move=M UW V; music=M Y UW Z IH K; my=M AY; name=N EY M; natural=N AE CH ER AX L; of=AH V;
  off=AO F; oh=OW; ok=OW K EY; okay=OW K EY; once=W AH N S; one=W AH N; ones=W AH N Z; only=OW N L IY;
  other=AH DH ER; our=AW ER; own=OW N; people=P IY P AX L; piece=P IY S; pretty=P R IH T IY; product=P R AA D AH K T;
  public=P AH B L IH K; put=P UH T; question=K W EH S CH AX N; quiet=K W AY AX T; ready=R EH D IY; really=R IH L IY;
  river=R IH V ER; said=S EH D; sandbox=S AE N D B AA K S; says=S EH Z; science=S AY AX N S; she=SH IY;
  should=SH UH D; shows=SH OW Z; some=S AH M; someone=S AH M W AH N; son=S AH N; special=S P EH SH AX L;
  sugar=SH UH G ER; sure=SH UH R; the=DH AX; their=DH EH R; there=DH EH R; they=DH EY; thing=TH IH NG; to=T UW;
  today=T UW D EY; together=T UW G EH DH ER; tomorrow=T UW M AA R OW; tonight=T UW N AY T; touch=T AH CH;
  true=T R UW; two=T UW; until=AH N T IH L; use=Y UW Z; very=V EH R IY; video=V IH D IY OW; voice=V OY S;
  want=W AA N T; wanted=W AA N T IH D; wants=W AA N T S; was=W AH Z; watch=W AA CH; water=W AO T ER; we=W IY;
  welcome=W EH L K AX M; were=W ER; what=W AH T; where=W EH R; who=HH UW; wireless=W AY R L AX S; woman=W UH M AX N;
  women=W IH M IH N; wont=W OW N T; word=W ER D; work=W ER K; world=W ER L D; would=W UH D; year=Y IH R;
  years=Y IH R Z; you=Y UW; young=Y AH NG; your=Y AO R; zero=Z IY R OW`;

interface Rule {
  readonly letters: string;
  readonly before: RegExp | undefined;
  readonly after: RegExp | undefined;
  readonly phones: readonly PhoneName[];
}

const vowel = '[aeiouy]';
const consonant = '[bcdfghjklmnpqrstvwxz]';
const classes: Readonly<Record<string, string>> = {
  '#': `${vowel}+`,
  ':': `${consonant}*`,
  '^': consonant,
  '.': '[bdgjlmnrvwz]',
  '%': '(?:er|es|ed|ing|ely|e)(?![a-z])',
  '&': '(?:ch|sh|[scgzxj])',
  '@': '(?:th|ch|sh|[tsrdlznj])',
  '+': '[eiy]',
};

let rules: ReadonlyMap<string, readonly Rule[]> | undefined;
let words: ReadonlyMap<string, readonly PhoneName[]> | undefined;

/** The phones of one English word, in small letters from a to z. */
export function soundOut(word: string): PhoneName[] {
  words ??= new Map(
    splitEntries(knownWords).map((entry) => {
      const [name = '', phones = ''] = entry.split('=');
      return [name, readPhones(phones)];
    }),
  );
  rules ??= new Map(
    Object.entries(letterRules).map(([letter, text]) => [letter, splitEntries(text).map((rule) => readRule(rule))]),
  );
  const known = words.get(word);
  if (known !== undefined) return [...known];
  const phones: PhoneName[] = [];
  for (let at = 0; at < word.length; ) {
    const rule = rules.get(word.charAt(at))?.find((candidate) => fits(candidate, word, at));
    phones.push(...(rule?.phones ?? []));
    at += rule?.letters.length ?? 1;
  }
  // The rules give "ted" and the like twice the vowel, and double letters twice the consonant.
  return phones.filter((phone, index) => phone !== phones[index - 1]);
}

function fits(rule: Rule, word: string, at: number): boolean {
  if (!word.startsWith(rule.letters, at)) return false;
  if (rule.before !== undefined && !rule.before.test(word.slice(0, at))) return false;
  return rule.after === undefined || rule.after.test(word.slice(at + rule.letters.length));
}

function splitEntries(text: string): string[] {
  return text
    .split(';')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function readRule(text: string): Rule {
  const [, left, letters, right, phones] = /^(.*)\[(.+)\](.*)=(.*)$/.exec(text) ?? [];
  if (left === undefined || letters === undefined || right === undefined || phones === undefined)
    throw new Error(`internal error: a rule of speech that cannot be read: ${text}`);
  const pattern = (context: string, boundary: string) =>
    [...context].map((sign) => (sign === '_' ? boundary : (classes[sign] ?? sign))).join('');
  return {
    letters,
    before: left === '' ? undefined : new RegExp(`(?:${pattern(left, '^')})$`),
    after: right === '' ? undefined : new RegExp(`^(?:${pattern(right, '$')})`),
    phones: readPhones(phones),
  };
}

function readPhones(text: string): PhoneName[] {
  return text
    .split(' ')
    .filter((name) => name !== '')
    .map((name) => {
      if (!isPhoneName(name)) throw new Error(`internal error: a phone that does not exist: ${name}`);
      return name;
    });
}
