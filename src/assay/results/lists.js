const data=JSON.parse(document.getElementById('data').textContent);
const make=(name,text)=>{const e=document.createElement(name);if(text!==undefined)e.textContent=text;return e};
const value=(row,at)=>{const cell=row.cells[at],name=cell.dataset.v,t=cell.textContent;
return name!==undefined?name.toLowerCase():/^-?[\d.]+[<>*]?$/.test(t)?parseFloat(t):t.toLowerCase()};
for(const table of document.querySelectorAll('table.list')){const body=table.tBodies[0];
[...table.tHead.rows[0].cells].forEach((head,at)=>head.querySelector('button').addEventListener('click',()=>{
document.querySelectorAll('.more').forEach(e=>e.remove());const up=head.getAttribute('aria-sort')==='descending';
[...table.tHead.rows[0].cells].forEach(c=>c.removeAttribute('aria-sort'));
head.setAttribute('aria-sort',up?'ascending':'descending');const rows=[...body.rows];
rows.sort((a,b)=>{const x=value(a,at),y=value(b,at);if(x===''||y==='')return (x==='')-(y==='');const c=typeof x===typeof y?(x<y?-1:x>y?1:0):typeof x==='number'?-1:1;
return up?c:-c});rows.forEach(r=>body.append(r))}));
body.addEventListener('click',event=>{const button=event.target.closest('button');if(!button)return;
const row=button.closest('tr'),next=row.nextElementSibling;
if(next&&next.className==='more'){next.remove();return}
const more=make('tr');more.className='more';const cell=make('td');cell.colSpan=row.cells.length;
cell.append(data.met?against(+row.dataset.p):curve(+row.dataset.p));more.append(cell);row.after(more)})}
function against(p){const t=make('table'),h=make('tr');for(const x of ['Opponent','Rating','Games','+','=','-','%','Difference'])
h.append(make('th',x));t.append(h);for(const [o,w,d,l] of data.met[p]||[]){const r=make('tr'),n=w+d+l;
for(const x of [data.names[o],data.ratings[o].toFixed(1),n,w,d,l,(100*(w+d/2)/n).toFixed(1),
data.pools[o]===data.pools[p]?(data.ratings[p]-data.ratings[o]).toFixed(1):'-'])r.append(make('td',x));t.append(r)}return t}
function curve(p){const m=data.moments[p],ns='http://www.w3.org/2000/svg',s=document.createElementNS(ns,'svg');
s.setAttribute('viewBox','0 0 640 220');s.setAttribute('width','640');const el=(n,a,t)=>{const e=document.createElementNS(ns,n);
for(const k in a)e.setAttribute(k,a[k]);if(t!==undefined)e.textContent=t;s.append(e)};
const a=data.when[m[0][0]],b=data.when[m[m.length-1][0]],lo=Math.min(...m.map(q=>q[1]-q[2])),hi=Math.max(...m.map(q=>q[1]+q[2]));
const X=t=>50+570*(b>a?(data.when[t]-a)/(b-a):.5),Y=v=>190-170*(v-lo)/(hi-lo||1);
el('path',{class:'band',d:'M'+m.map(q=>X(q[0])+' '+Y(q[1]+q[2])).join('L')+'L'+[...m].reverse().map(q=>X(q[0])+' '+Y(q[1]-q[2])).join('L')+'Z'});
el('path',{d:'M'+m.map(q=>X(q[0])+' '+Y(q[1])).join('L')});
for(const v of [lo,(lo+hi)/2,hi])el('text',{x:0,y:Y(v)+4,'font-size':12},Math.round(v));
el('text',{x:50,y:212,'font-size':12},data.times[m[0][0]]);el('text',{x:620,y:212,'font-size':12,'text-anchor':'end'},data.times[m[m.length-1][0]]);
return s}
const day=document.getElementById('day');if(day)day.addEventListener('change',()=>{const at=data.when[+day.value];
document.querySelectorAll('.more').forEach(e=>e.remove());
for(const table of document.querySelectorAll('table.list')){const rows=[...table.tBodies[0].rows].map(row=>{
const m=data.moments[+row.dataset.p];let k=-1;while(k+1<m.length&&data.when[m[k+1][0]]<=at+1e-9)k++;let v=null,e=null;
if(k>=0){const gap=Math.max(0,at-data.when[m[k][0]]);let s=0;v=m[k][1];e=m[k][2];
if(k+1<m.length){s=gap/(data.when[m[k+1][0]]-data.when[m[k][0]]);v+=s*(m[k+1][1]-v);e+=s*(m[k+1][2]-e)}
e=Math.hypot(e,data.walk*Math.sqrt(gap*(1-s)))}return [row,v,e]});
rows.sort((x,y)=>(y[1]??-1e9)-(x[1]??-1e9));let rank=0;for(const [row,v,e] of rows){row.hidden=v===null;
if(v!==null){row.cells[0].textContent=++rank;row.cells[2].textContent=v.toFixed(1);row.cells[3].textContent=e.toFixed(1)}
table.tBodies[0].append(row)}}});
